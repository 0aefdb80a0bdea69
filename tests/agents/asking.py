"""One question to a health server."""

from __future__ import annotations

import aiohttp


async def ask(port: int, path: str) -> tuple[int, str]:
    """The status, and the reason that it gives."""
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/{path}") as answer:
        return answer.status, (await answer.json())["reason"]
