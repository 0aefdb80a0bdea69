"""What a customer is told about an address that cannot be taken: each refusal has its own sentence (E07)."""

from __future__ import annotations

from crawler.rules.urls import Reason

ADDRESS: dict[Reason, str] = {
    Reason.EMPTY: "The address is empty. Type the name of the website, such as shop.example.",
    Reason.TOO_LONG: "The address is too long. Type the name of the website alone, such as shop.example.",
    Reason.UNREADABLE: "This is no address that a browser would open. Type it as it stands in the browser's line.",
    Reason.SCHEME: "Only websites can be read: the address begins with https:// or with the name itself.",
    Reason.USERINFO: "The address holds a user name or a password. Leave out everything up to the @.",
    Reason.PORT: "The address names a port. Only websites on the usual port are read; leave the number out.",
    Reason.IP_ADDRESS: "This is the number of a machine. Type the website's name instead.",
    Reason.HOST: "This is no name of a website: it has letters, digits and hyphens, and dots between them.",
    Reason.SINGLE_LABEL: "The name has no dot. Type the whole name, such as shop.example.",
    Reason.SPECIAL_NAME: "This name is for use inside a network. Type the name under which everybody finds the site.",
    Reason.PUBLIC_SUFFIX: "Many owners share this name. Type your own site below it, such as yours.example.com.",
    Reason.OFFSITE: "This page belongs to another website. List pages of the saved website alone.",
    Reason.QUERY: "This address has a question mark in it; such pages are not read. Leave out what follows it.",
}


def of(reason: Reason) -> str:
    """The sentence for a refused address: what is wrong, and what to change."""
    return ADDRESS[reason]
