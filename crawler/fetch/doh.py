"""DNS over HTTPS (RFC 8484): carries questions to the configured resolvers, and decides nothing.

A session of its own: resolvers are the operator's configuration and not strangers, so neither the address guard nor
a customer's note has anything to do with them. Wire format only; the JSON forms of the providers differ.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from dns.exception import DNSException

from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from crawler.rules.dns_proof import MAX_MESSAGE, query
from models.web import Lookup, Outcome, Reply, Request, Response

MEDIA_TYPE = "application/dns-message"


class Doh:
    """Asks each resolver for each name, all at once; every failure is a reply that says so."""

    def __init__(self, resolvers: Sequence[str], network: Network) -> None:
        """A network with routes is a closed world: it knows its own resolvers and none of the internet's."""
        self._resolvers = tuple(network.resolvers if network.routes else resolvers)
        self._network = network
        self._session: ClientSession | None = None

    async def ask(self, lookup: Lookup) -> Response:
        """Every resolver's reply to every name. Raises nothing but CancelledError."""
        started_at, started = time.time(), time.monotonic()
        asks = [self._one(url, name, lookup.timeout) for url in self._resolvers for name in lookup.names]
        replies = tuple(await asyncio.gather(*asks))
        answered = any(not reply.error for reply in replies)
        return Response(
            outcome=Outcome.OK if answered else Outcome.DNS,
            started_at=started_at,
            ended_at=time.time(),
            elapsed=time.monotonic() - started,
            replies=replies,
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def _one(self, url: str, name: str, timeout: float) -> Reply:  # noqa: ASYNC109 - the policy's number
        resolver = urlsplit(url).netloc
        try:
            async with asyncio.timeout(timeout):
                return await self._post(url, resolver, name)
        except TimeoutError:
            return Reply(resolver, name, error="no answer in time")
        except DNSException as error:
            return Reply(resolver, name, error=f"cannot be asked for this name ({type(error).__name__})")
        except (ClientError, OSError, ValueError) as error:
            return Reply(resolver, name, error=f"cannot be reached ({type(error).__name__})")

    async def _post(self, url: str, resolver: str, name: str) -> Reply:
        headers = {"Accept": MEDIA_TYPE, "Content-Type": MEDIA_TYPE}
        async with self._open().post(url, data=query(name), headers=headers, allow_redirects=False) as response:
            if response.status != 200:
                return Reply(resolver, name, error=f"answers with status {response.status}")
            if response.content_type != MEDIA_TYPE:
                return Reply(resolver, name, error=f"answers with {response.content_type}, which is no DNS")
            body = bytearray()
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > MAX_MESSAGE:
                    return Reply(resolver, name, error="answers with more than a DNS message can hold")
            return Reply(resolver, name, bytes(body))

    def _open(self) -> ClientSession:
        """The session, made on first use because it belongs to the running loop."""
        if self._session is None:
            self._session = ClientSession(
                connector=TCPConnector(ssl=self._network.tls(), limit=64),
                cookie_jar=DummyCookieJar(),
                trust_env=False,
                timeout=ClientTimeout(total=None, sock_connect=None),
            )
        return self._session


class Carrier:
    """Takes whatever a step has to ask to where it is answered: the site, or the resolvers."""

    def __init__(self, fetcher: Fetcher, doh: Doh) -> None:
        self._fetcher = fetcher
        self._doh = doh

    async def fetch(self, asked: Request | Lookup) -> Response:
        """One request to the site, or one question to the resolvers. Raises nothing but CancelledError."""
        if isinstance(asked, Lookup):
            return await self._doh.ask(asked)
        return await self._fetcher.fetch(asked)

    async def close(self) -> None:
        """Close every connection."""
        await self._fetcher.close()
        await self._doh.close()
