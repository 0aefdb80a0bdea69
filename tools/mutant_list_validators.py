"""The mutants of conditional GET and of `/llms.txt`: what makes a 304 worth having, taken away piece by piece."""

from __future__ import annotations

from tools.mutant_list import RULES, WEMBI, Mutant

VALIDATORS, PAGES, REVISITS = RULES + "validators.py", RULES + "jobs/pages.py", RULES + "jobs/revisits.py"
LLMS = RULES + "jobs/llms_txt.py"
RESTORING, STAFF, FROM_DATABASE = RULES + "restoring.py", RULES + "staff.py", "stack/revisits.py"

CONDITIONAL = (
    Mutant("W08", "whatever robots.txt says", LLMS, "verdict is None or not verdict.allows(url)", "verdict is None"),
    Mutant("W08", "again after a crash", LLMS, ">= profile.budget.llms_txt_requests:", "> 5:"),
    Mutant("W08", "by every bot", "bots/certant.yaml", "llms_txt_requests: 0 ", "llms_txt_requests: 1 "),
    Mutant("W09", "never conditional", WEMBI, "conditional_get: true ", "conditional_get: false "),
    Mutant("W09", "anything is a tag", VALIDATORS, "and _ETAG.fullmatch(values[0]) else", "else"),
    Mutant("W09", "a date of the same second", VALIDATORS, "modified + 1 <= sent", "modified <= sent"),
    Mutant("W09", "switched off and sent all the same", VALIDATORS, "not profile.discovery.conditional_get or ", ""),
    Mutant("W09", "no cap", VALIDATORS, "len(site.validators) >= MOST", "False"),
    Mutant(
        "W09",
        "any account's text",
        VALIDATORS,
        "site.validators.get((job.account, ask.url))",
        "next((slot for (_, url), slot in site.validators.items() if url == ask.url), None)",
    ),
    Mutant(
        "W09",
        "a failed reading is forgotten",
        REVISITS,
        ", *validators.forgotten(answer.site, account, url)))",
        ",))",
    ),
    Mutant("W09", "a second attempt is remembered", REVISITS, " or answer.ask.attempt > 1", ""),
    Mutant("W09", "an unchanged page leads nowhere", PAGES, "_links(answer, revisits.links(answer, known))", "[]"),
    Mutant("W09", "an unchanged page is not kept", PAGES, "result.job.pages + 1,", "result.job.pages,"),
    Mutant("W09", "nothing comes back", FROM_DATABASE, "page.c.place == 1,", "page.c.place == 0,"),
    Mutant("W09", "a failed reading comes back", FROM_DATABASE, ", ~failed.exists())", ")"),
    Mutant("E25", "validators outlive the text", STAFF, ", *all_forgotten(head))\n", ",)\n"),
    Mutant("E25", "what was erased since comes back", RESTORING, " and one.at > head.erased_at", ""),
)
