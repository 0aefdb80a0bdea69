"""What proves a site (E08-E10): the matching of a token, and nothing around it."""

from __future__ import annotations

import hmac


def file_proves(body: bytes, token: str, template: str) -> bool:
    """Whether a token file holds `token` on a line of its own, bare or as `template` (`key={token}`) writes it.

    `body` is what was read of it (E09: the first 1,024 bytes); a token that is cut off there is absent. A BOM and
    ASCII white space around a line are tolerated; a substring never proves.
    """
    text = body.removeprefix(b"\xef\xbb\xbf")
    wanted = (token.encode(), template.format(token=token).encode())
    lines = text.replace(b"\r", b"\n").split(b"\n")
    return any(hmac.compare_digest(line.strip(b" \t\f\v"), each) for line in lines for each in wanted)
