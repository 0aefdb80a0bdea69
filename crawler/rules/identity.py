"""Who we are: the User-Agent, and the customer's note in it (E01, E02).

A note may say whose crawl this is. It must not make us look like somebody else's crawler, so it is refused
if its final form, after stripping and cutting, reads like a crawler's name: cutting can create one.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import cache

from crawleruseragents import CRAWLER_USER_AGENTS_DATA

from models.profile import Profile

_STRIPPED = frozenset("()[]{}<>;")
# `Mozilla/5.0`, but not `customer 42 / staging` nor the path of a link.
_PRODUCT = re.compile(r"(?:^|[\s,])[A-Za-z!][\w.!-]*/v?\d")
_SHAPE = re.compile(r"[a-z0-9]*(?:bot|spider|crawler|slurp|scraper|fetcher)s?")
# Words and names that end like a crawler's name, and tools whose name is a word or a trade mark that a shop
# may well mention ("WhatsApp us", "Yeti coolers"). Joined with another word they still count: "Uptime Robot".
_ORDINARY = frozenset(
    """
    robot robots turbot turbots cabot abbot talbot talbots sabot jabot rabot both spider spiders crawler
    crawlers scraper scrapers fetcher buck bushbaby butterfly charlotte crusty devin expanse feeder
    fetch fever fluffy fluid golfe goodreads grammarly grover hubspot jetty klaviyo lemmy magellan
    mailchimp make mastodon moreover newspaper nextcloud nitro notion odin operator overcast paypal
    potions readable sentry silk sonic spectate speedy stripe synapse trove tumblr uptime verity viber
    vigil watchful wayback webflow whatsapp wordpress yeti
    """.split()  # noqa: SIM905 - a wrapped text reads better than 75 quoted words
)
_OURS_AND_MISSED = ("EmaIngestBot", "WembiBot", "CertantBot", "Semrush")  # the list knows only SemrushBot
_LEET = str.maketrans("01345", "oleas")
_HOMOGLYPHS = str.maketrans(
    "аеорсухіјѕԁɡһкмнтвԛԝαορτυνικεꓖΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХ",
    "aeopcyxijsdghkmhtbqwaoptuvikegabezhikmnoptyxabekmhopctx",
)


class NoteRule(StrEnum):
    """The rule that a refused note broke, named to the customer."""

    NOT_ALLOWED = "this bot sends no notes"
    NOT_ASCII = "only plain ASCII characters can be sent in a User-Agent"
    PRODUCT = "a name with a version, such as Product/1.2, reads like another program"
    CRAWLER_NAME = "it contains the name of a crawler"
    CRAWLER_SHAPE = "a word in it ends like the name of a crawler"


class NoteRefused(ValueError):
    """A note that is not sent; the note before it stays in force (E02)."""

    def __init__(self, rule: NoteRule, found: str = "") -> None:
        self.rule, self.found = rule, found
        super().__init__(f"{rule}: {found!r}" if found else str(rule))


def user_agent(profile: Profile, note: str | None = None) -> str:
    """The User-Agent of every request (E01). `note` must be the result of `check_note`."""
    who = profile.identity
    tail = f"; {note}" if note else ""
    return f"{who.token}/{who.version} (+{who.page}{tail})"


def check_note(note: str, profile: Profile) -> str:
    """The note in its final form, empty if nothing is left of it; raises `NoteRefused` (E02)."""
    final = _final_form(note, profile.identity.note_max)
    if profile.identity.note_max == 0 and note.strip():
        raise NoteRefused(NoteRule.NOT_ALLOWED)
    _refuse_names(final)
    if not final.isascii():
        raise NoteRefused(NoteRule.NOT_ASCII, next(c for c in final if not c.isascii()))
    return final


def _final_form(note: str, longest: int) -> str:
    """NFC; brackets, semicolons, control and format characters stripped; spaces run together; cut."""
    text = unicodedata.normalize("NFC", note)
    kept = "".join(c for c in text if c not in _STRIPPED and unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return " ".join(kept.split())[:longest].strip()


def _refuse_names(text: str) -> None:
    product = _PRODUCT.search(text)
    if product:
        raise NoteRefused(NoteRule.PRODUCT, product[0].strip())
    words = _words(text)
    # "Google bot" and "archive.org_bot": two and three words may be one name.
    for size in (1, 2, 3):
        for start in range(len(words) - size + 1):
            joined = "".join(words[start : start + size])
            if joined in _names() and not (size == 1 and joined in _ORDINARY):
                raise NoteRefused(NoteRule.CRAWLER_NAME, " ".join(words[start : start + size]))
    shaped = next((w for w in words if w == "bot" or (_SHAPE.fullmatch(w) and w not in _ORDINARY)), None)
    if shaped:
        raise NoteRefused(NoteRule.CRAWLER_SHAPE, shaped)


def _folded(text: str) -> str:
    """As an eye reads it: compatibility forms, case, look-alike letters and digits."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_HOMOGLYPHS)


def _words(text: str) -> list[str]:
    words = re.findall(r"[^\W_]+", _folded(text))
    return [word if word.isdigit() else word.translate(_LEET) for word in words]


@cache
def _names() -> frozenset[str]:
    """Plain names from the crawler-user-agents list, folded like a note, plus our own."""
    plain = [_plain(str(entry["pattern"])) for entry in CRAWLER_USER_AGENTS_DATA]
    folded = ("".join(_words(name)) for name in (*filter(None, plain), *_OURS_AND_MISSED))
    return frozenset(name for name in folded if len(name) > 3)


def _plain(pattern: str) -> str:
    """A pattern without its regular expression; empty where nothing plain is left."""
    text = re.sub(r"\[(.)\w\]", r"\1", pattern).replace("\\", "").strip("^$ ")
    text = re.sub(r"\(\^\| \)|\(\[\^-\]\|\$\)", "", text)
    return "" if re.search(r"[\[\](|*?)]", text) else text
