"""What a customer is told about an address that cannot be taken: each refusal has its own sentence (E07)."""

from __future__ import annotations

from crawler.rules.checks import NotMade
from crawler.rules.urls import Reason

ADDRESS: dict[Reason, str] = {
    Reason.EMPTY: "The address is empty. Type the name of the website, such as shop.example.",
    Reason.TOO_LONG: "The address is too long. Type the name of the website alone, such as shop.example.",
    Reason.UNREADABLE: "This is no address that a browser would open. Type it as it stands in the browser's line.",
    Reason.SPACE: "There is a space in the address. Type one address alone, without spaces.",
    Reason.SCHEME: "Only websites can be read: the address begins with https:// or with the name itself.",
    Reason.USERINFO: "The address holds a user name or a password. Leave out everything up to the @.",
    Reason.PORT: "The address names a port. Only websites on the usual port are read; leave the number out.",
    Reason.IP_ADDRESS: "This is the number of a machine. Type the website's name instead.",
    Reason.HOST: "This is no name of a website: it has letters, digits and hyphens, and dots between them.",
    Reason.SINGLE_LABEL: "The name has no dot. Type the whole name, such as shop.example.",
    Reason.SPECIAL_NAME: "This name is for use inside a network. Type the name under which everybody finds the site.",
    Reason.PUBLIC_SUFFIX: "Many owners share this name. Type your own site below it, such as yours.example.com.",
    Reason.PLATFORM: "Many people have pages on this site. Type the address of a website that is yours alone.",
    Reason.OFFSITE: "This page belongs to another website. List pages of the saved website alone.",
    Reason.QUERY: "This address has a question mark in it; such pages are not read. Leave out what follows it.",
}

NOT_CHECKED: dict[NotMade, str] = {
    "suspended": "Staff have suspended this site, so it was not asked whether it answers.",
    "blocked": "This site is on the blocklist, so it was not asked whether it answers.",
    "site_limit": "This site was asked often enough today whether it answers; the day begins at midnight UTC.",
    "account_limit": "Many addresses were saved for this account today; whether this one answers was not asked.",
}
"""Why an address that was saved was not checked."""


def of(reason: Reason) -> str:
    """The sentence for a refused address: what is wrong, and what to change."""
    return ADDRESS[reason]
