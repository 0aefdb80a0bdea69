"""The mutants of the audit, the erasing and the removing: each guard taken away, one after the other."""

from __future__ import annotations

from tools.mutant_list import EMA, RULES, Mutant

REMOVING, PROJECTION, ROWS = "agents/removing.py", "agents/projection.py", "agents/rows.py"
STAFF, PROOF, CLOSING, ACTOR = RULES + "staff.py", RULES + "jobs/proof.py", RULES + "jobs/closing.py", RULES + "actor.py"
RESTORING, RESTORE, CHECKS = RULES + "restoring.py", "stack/restore.py", RULES + "checks.py"
WINDOWS, LOOKUPS, VIEWS, ASKED = "commands/windows.py", "commands/lookups.py", "commands/views.py", "commands/audit.py"

AUDIT = (
    # removing (C06)
    Mutant("C06", "pages of other accounts go", REMOVING, ", Crawl.account == ended[\"account\"])", ")"),
    Mutant("C06", "pages of other sites go", REMOVING, "Page.site == ended[\"site\"], ", ""),
    Mutant("C06", "newer pages than the end go", REMOVING, "Page.fetched_at <= ended[\"terminal_at\"], ", ""),
    Mutant("C06", "pages for pairs take a place", REMOVING, ", Page.pairs_only.is_(False))", ")"),
    Mutant("C06", "one page too few goes", REMOVING, ".offset(ended[\"remove_above\"])", ".offset(ended[\"remove_above\"] + 1)"),
    Mutant("C06", "one page too many goes", REMOVING, ".offset(ended[\"remove_above\"])", ".offset(ended[\"remove_above\"] - 1)"),
    Mutant("C06", "older crawls' pages stay before newer ones", REMOVING, "Crawl.requested_at.desc(), ", "Crawl.requested_at, "),
    Mutant("C06", "the first in priority go", REMOVING, "Page.rank, Page.page_id)\n    pages", "Page.rank.desc(), Page.page_id)\n    pages"),
    Mutant("C06", "what goes is not listed", REMOVING, "[dict(page) for page in pages])", "[dict(page) for page in pages[:1]])"),
    Mutant("C06", "it is listed and does not go", REMOVING, "Page.page_id.in_([page[\"page_id\"] for page in pages])", "Page.page_id.in_([])"),
    Mutant("C06", "pages that come late stay", PROJECTION, "for target in (DECISIONS, ENDS, PAGES)", "for target in (DECISIONS, ENDS)"),
    Mutant("C06", "an end without its decision is never applied", PROJECTION, "for target in (DECISIONS, ENDS, PAGES)", "for target in (ENDS, PAGES)"),
    Mutant("C06", "undetermined removes", PROOF, 'if found.result == "absent" else None,\n', "if not there else None,\n"),
    Mutant("C06", "found removes", PROOF, 'job.plan) if found.result == "absent" else None', "job.plan)"),
    Mutant("C06", "the list's own limit decides what is removed", PROOF, "gate.standard_pages(policy.profile, job.plan) if", "limits.pages if"),
    Mutant("C06", "the end forgets what to remove", CLOSING, "            remove_above=job.remove_above,\n", ""),
    Mutant("C06", "the row forgets what to remove", ROWS, '"remove_above": fact.remove_above}', '"remove_above": None}'),
    Mutant("C06", "a crawl lost with the broker removes nothing", RESTORING, " if lost.proof_absent else None", " if False else None"),
    Mutant("C06", "every lost crawl removes", RESTORING, " if lost.proof_absent else None", ""),
    Mutant("C06", "the database forgets what was found", RESTORE, 'Verification.result == "absent"\n', 'Verification.result == "found"\n'),
    Mutant("C06", "another crawl's finding counts", RESTORE, "Verification.job == Crawl.crawl, ", ""),
    Mutant("C06", "a lost crawl's plan is forgotten", RESTORE, 'plan=plan or ""', 'plan=""'),
    Mutant("C06", "the report has another order", LOOKUPS, "Removal.rank.desc(), Removal.page_id", "Removal.rank, Removal.page_id"),
    Mutant("C06", "the report names all crawls' pages", LOOKUPS, "return query.where(Removal.crawl == job)", "return query"),
    # erasing (E25)
    Mutant("E25", "what runs goes on", STAFF, '    closed = close_all(site, now, "suspended")\n    head = closed.head\n    facts', "    closed = Change(site.head)\n    head = closed.head\n    facts"),
    Mutant("E25", "an erased site is not suspended", STAFF, "    if head.suspended is None:\n", "    if False:\n"),
    Mutant("E25", "a suspension is written over", STAFF, "    if head.suspended is None:\n", "    if True:\n"),
    Mutant("E25", "a request on the wire brings it back", STAFF, "max(now, head.last_end, *(intent.at for intent in head.intents))", "now"),
    Mutant("E25", "the last request's time does not count", STAFF, "max(now, head.last_end, *", "max(now, *"),
    Mutant("E25", "an open request's time does not count", STAFF, "head.last_end, *(intent.at for intent in head.intents))", "head.last_end)"),
    Mutant("E25", "robots.txt stays in the memory", STAFF, "parts=((cache_key(head.site), None),), ", ""),
    Mutant("E25", "the ledger is written after the content", PROJECTION, "written = _write(connection, ERASURES, erasures) if erasures else 0\n    _drop_erased(connection, batch)\n", "_drop_erased(connection, batch)\n    written = _write(connection, ERASURES, erasures) if erasures else 0\n"),
    Mutant("E25", "a replay brings it back", PROJECTION, "    _drop_erased(connection, batch)\n", ""),
    Mutant("E25", "what was read after a resume stays out", PROJECTION, " and row[time] <= erased[row[\"site\"]]", ""),
    Mutant("E25", "other sites' content stays out", PROJECTION, 'row["site"] in erased and row[time] <= erased[row["site"]]', "erased and row[time] <= max(erased.values())"),
    Mutant("E25", "the oldest erasure decides", PROJECTION, "func.max(ledger.erased_at)", "func.min(ledger.erased_at)"),
    Mutant("E25", "the ledger is read without a lock", PROJECTION, "pg_advisory_xact_lock_shared(:key)", "1, :key"),
    Mutant("E25", "clear URLs are no content", ROWS, 'CONTENT = {URLS: "named_at", ', "CONTENT = {"),
    Mutant("E25", "listings are no content", ROWS, ', LISTINGS: "listed_at"}', "}"),
    Mutant("E25", "pages are no content", ROWS, 'PAGES: "fetched_at", ', ""),
    Mutant("E25", "the ledger has the time of the command", ROWS, '"erased_at": when(fact.until)', '"erased_at": when(fact.at)'),
    # the audit (E23, E24)
    Mutant("E23", "a refusal writes no row", ACTOR, "return Change(head, facts=(fact,))\n    held = head.accounts.get(job.account", "return Change(head)\n    held = head.accounts.get(job.account"),
    Mutant("E23", "a refusal has no end", ROWS, "    if not fact.accepted:\n", "    if False:\n"),
    Mutant("E23", "whoever asked is not named", ACTOR, "requested_by=by", 'requested_by=""'),
    Mutant("E23", "the proof on file is not named", ACTOR, "proof=proof_.method if proof_ else None", "proof=None"),
    Mutant("E24", "the end of a day is its beginning", WINDOWS, "date.fromisoformat(text) + timedelta(days=fold)", "date.fromisoformat(text)"),
    Mutant("E24", "an hour that comes twice counts once", WINDOWS, "_moment(end, where, fold=1)", "_moment(end, where, fold=0)"),
    Mutant("E24", "an hour that never was is taken", WINDOWS, "if at.tzinfo is None and found.astimezone(zone)", "if False and found.astimezone(zone)"),
    Mutant("E24", "a window that ends before it begins", WINDOWS, "if first >= last:", "if False:"),
    Mutant("E24", "lookups at resolvers are requests to the site", WINDOWS, 'RESOLVERS_ONLY = ("dns_proof",)', "RESOLVERS_ONLY = ()"),
    Mutant("E24", "crawls that began before are left out", LOOKUPS, "Crawl.terminal_at.is_(None) | (Crawl.terminal_at >= begin)", "first >= begin"),
    Mutant("E24", "a late answer is left out", LOOKUPS, "open_then | late", "open_then"),
    Mutant("E24", "what was never sent is a request", LOOKUPS, "Fetch.sent.is_(True), Fetch.started_at", "Fetch.started_at"),
    Mutant("E24", "other sites' crawls are told", LOOKUPS, "where(Crawl.site == site, open_then", "where(open_then"),
    Mutant("E24", "requests of crawls are told as others", LOOKUPS, "if outside else query\n\n\ndef _between", "if False else query\n\n\ndef _between"),
    Mutant("W01", "a later entry is the ground", LOOKUPS, "Suspension.at <= at\n", "Suspension.at.is_not(None)\n"),
    Mutant("W01", "the first entry decides", LOOKUPS, "*said).order_by(Suspension.at.desc()", "*said).order_by(Suspension.at"),
    Mutant("W01", "the list is no authority", ASKED, '.gate.kind == "operator_list"', ".gate.kind is None"),
    Mutant("E11", "an attestation is not flagged", VIEWS, "if still_to_be_proved(account)", "if False"),
    Mutant("E11", "the newest row is told first", VIEWS, "for row in reversed(verifications):", "for row in verifications:"),
    # address checks (E07)
    Mutant("E07", "eleven HEADs a day", EMA, "per_site_day: 10 ", "per_site_day: 11 "),
    Mutant("E07", "no limit for a site", CHECKS, ">= rule.per_site_day else None", ">= rule.per_site_day and False else None"),
    Mutant("E07", "a redelivery takes a place", CHECKS, "tuple(dict.fromkeys((*kept.get(day_of(at), ()), job)))", "(*kept.get(day_of(at), ()), job, job)"),
    Mutant("E07", "days are never forgotten", CHECKS, " if day >= day_of(at - 86_400)}", "}"),
    Mutant("E07", "a stopped site is asked", CHECKS, '        return "suspended"  # E25', "        pass"),
    Mutant("E07", "a blocked site is asked", CHECKS, '        return "blocked"  # W13', "        pass"),
    Mutant("E07", "no limit for an account", CHECKS, '        return "account_limit"', "        pass"),
    Mutant("E07", "the same site again is spent", CHECKS, "if site not in mine and len(mine)", "if len(mine)"),
    Mutant("E07", "accounts are remembered for ever", CHECKS, "if len(self.sites) > MOST_ACCOUNTS:", "if False:"),
    Mutant("E07", "a day that does not end", CHECKS, "        if (day := day_of(at)) != self.day:", "        if (day := self.day or day_of(at)) != self.day:"),
    Mutant("E07", "the day's checks are lost with the broker", RESTORING, "_united(said.checks, head.checks)", "head.checks"),
)  # fmt: skip
