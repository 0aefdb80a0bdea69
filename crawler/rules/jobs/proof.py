"""Looking for a proof: a token file, a mark on a page, a record in the DNS (E08-E10, C03-C05); and again (C06).

Nothing that is seen is kept (E12). robots.txt is not consulted for a proof (E12), or it is where the policy makes no
exception (C07). What is found comes out as a `Finding`, the same for a verification and for the check at a start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from crawler.rules import dns_proof, gate, proofs, tokens
from crawler.rules.challenge import detect
from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.site import Change, Policy, Site, with_job, without_job
from crawler.rules.urls import UrlRefused, canonical, host_of, same_site
from models import ids
from models.events import Fact, ProofMethod, ProofRechecked, VerificationFailed, Verified
from models.page import MarksRead
from models.profile import FileProof, PageProof
from models.state import Account, Ask, Job, Proof
from models.web import Kind, Lookup, Outcome

HTML = ("text/html", "application/xhtml+xml")
KINDS = {"token_file": Kind.TOKEN_FILE, "dns": Kind.DNS_PROOF}
"""What is asked for a method; all others are marks on a page."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What looking for a proof gave. `cause` is a word of a closed list, `reason` the customer's sentence."""

    result: Literal["found", "absent", "undetermined"]
    cause: str
    reason: str
    method: ProofMethod = "token_file"
    token: str = ""
    host: str = ""
    path: str = ""

    @property
    def weaker(self) -> bool:
        """A line of text may be a visitor's (E10)."""
        return self.method == "homepage_text"


def known(policy: Policy, method: str) -> bool:
    """Whether this bot's policy knows a method."""
    rules = policy.profile.proofs
    return {"dns": rules.dns, "token_file": rules.file, "homepage": rules.page}.get(method) is not None


def next_ask(site: Site, job: Job, now: float, policy: Policy) -> Ask | Change:
    """robots.txt first where it counts, then the proof; or the change that ends the looking."""
    if job.ask is not None:
        return job.ask
    kind = KINDS.get(_method(site, job), Kind.HOMEPAGE_PROOF)
    if kind is Kind.DNS_PROOF:
        return Ask(kind=kind, url=f"dns:{_domain(site, job, policy)}")
    ask = Ask(kind=kind, url=_url(site, job, kind, policy))
    if not policy.profile.proofs.obey_robots:
        return ask  # E12
    if job.id not in site.robots:
        return Ask(kind=Kind.ROBOTS, url=f"https://{job.host}/robots.txt")
    if site.robots[job.id].allows(ask.url):
        return ask
    return _ended(site, job, now, policy, _denied(ask.url))


def lookup(site: Site, job: Job, policy: Policy) -> Lookup:
    """The question that a DNS ask means."""
    rule = policy.profile.proofs.dns
    assert rule is not None
    return dns_proof.lookup(rule, _domain(site, job, policy))


def _domain(site: Site, job: Job, policy: Policy) -> str:
    """The name to look a record up for; at a crawl's start, the one where it was found."""
    proof = _held(site, job).proof
    if job.kind == "crawl" and proof is not None:
        return proof.host
    return tokens.name_for(policy.profile, site.head.site, job.host)


def _method(site: Site, job: Job) -> str:
    """What a verification asked for; at a crawl's start, what is on file."""
    if job.kind == "verification":
        return job.method
    proof = _held(site, job).proof
    return proof.method if proof else ""


def _held(site: Site, job: Job) -> Account:
    return site.head.accounts.get(job.account, Account())


def _url(site: Site, job: Job, kind: Kind, policy: Policy) -> str:
    rules = policy.profile.proofs
    if kind is Kind.TOKEN_FILE:
        assert rules.file is not None
        return f"https://{job.host}{rules.file.path}"
    assert rules.page is not None
    return job.start if rules.page.page == "start_page" else f"https://{job.host}/"


def absorb(answer: Answer) -> Result:
    """The site's or the resolvers' answer: follow a redirect, ask again, or conclude."""
    found = _LOOKS[answer.ask.kind](answer)
    if isinstance(found, Ask):
        outcome = answer.response.outcome
        return Result(moved(answer.job, ask=found), outcome, final=outcome is Outcome.REDIRECTED)
    job, facts, account = conclude(answer.site, answer.job, answer.response.ended_at, answer.policy, found)
    over = job.kind == "verification"
    return Result(job, answer.response.outcome, facts=facts, over=over, account=account, detail=found.cause)


def _look_in_dns(answer: Answer) -> Finding | Ask:
    """E08, C03."""
    rule = answer.profile.proofs.dns
    assert rule is not None
    said = [dns_proof.read(reply, _tokens(answer), rule) for reply in answer.response.replies]
    agreed = dns_proof.agree(said, answer.ask.attempt)
    if agreed.result == "again":
        return answer.ask.model_copy(update={"attempt": answer.ask.attempt + 1})
    causes = {"found": "", "absent": "no_record", "undetermined": "resolvers"}
    host = _domain(answer.site, answer.job, answer.policy)
    return Finding(agreed.result, causes[agreed.result], agreed.reason[:1000], "dns", agreed.token, host)


def _look_in_file(answer: Answer) -> Finding | Ask:
    """E09, C05."""
    rule = answer.profile.proofs.file
    assert rule is not None
    early = _unanswered(answer, rule, "token file")
    if early is not None:
        return early
    if (answer.response.header("Content-Type") or "").split(";")[0].strip().lower() in HTML:
        return Finding("absent", "html", "A web page came back instead of the token file; serve it as plain text.")
    token = proofs.file_proves(answer.response.body, _tokens(answer), rule)
    if token is None:
        said = f"The file is there, but its first {rule.max_bytes} bytes do not hold this account's token on a line."
        return Finding("absent", "no_token", said)
    return Finding("found", "", "", "token_file", token, host_of(answer.ask.url))


def _look_in_page(answer: Answer) -> Finding | Ask:
    """E10, C04."""
    rule = answer.profile.proofs.page
    assert rule is not None
    response = answer.response
    if rule.header and response.status is not None and 200 <= response.status < 300:
        token = proofs.header_proves(response.all(rule.header), _tokens(answer))
        if token is not None:
            return _on_page(answer, "start_page_header", token)
    early = _unanswered(answer, rule, "page")
    if early is not None:
        return early
    if not isinstance(answer.read, MarksRead):
        return Finding(
            "undetermined", "unreadable", "The page is too much for our reader; use another kind of proof."
        )
    return _marked(answer, answer.read, rule)


def _marked(answer: Answer, read: MarksRead, rule: PageProof) -> Finding:
    token = proofs.meta_proves(read.metas, _tokens(answer))
    if token is not None:
        return _on_page(answer, "homepage_meta" if rule.page == "homepage" else "start_page_meta", token)
    token = proofs.text_proves(read.lines, _tokens(answer), rule)
    if token is not None and proofs.is_platform(host_of(answer.ask.url)):
        said = "Anybody may write a line of text on this site; use the meta tag or another kind of proof."
        return Finding("absent", "platform", said)
    if token is not None:
        return _on_page(answer, "homepage_text", token)
    what = "a meta tag in its head nor as a line of text" if rule.text else "a meta tag in its head nor in a header"
    return Finding("absent", "no_token", f"{answer.ask.url} shows this account's token neither as {what}.")


def _on_page(answer: Answer, method: ProofMethod, token: str) -> Finding:
    url = answer.ask.url
    path = proofs.covered_path(url) if method.startswith("start_page") else ""
    return Finding("found", "", "", method, token, host_of(url), path)


def _unanswered(answer: Answer, rule: FileProof | PageProof, what: str) -> Finding | Ask | None:
    """What an answer that is no readable 200 means; None for one that is."""
    response, url = answer.response, answer.ask.url
    if detect(response) is not None:
        said = f"The site met us with a challenge at {url}, and we never work around one. Let our User-Agent pass."
        return Finding("undetermined", "challenge", said)
    if response.outcome is Outcome.REDIRECTED:
        return _redirected(answer, rule.max_redirects, what)
    if response.outcome is Outcome.OK and response.status == 200:
        return None
    if response.outcome is Outcome.REFUSED_TYPE:
        return Finding("absent", "type", f"{url} is no web page (its Content-Type says so).")
    said_no = response.outcome in (Outcome.OK, Outcome.HTTP_4XX, Outcome.HTTP_OTHER)
    if said_no and response.status not in (408, 425):
        return Finding("absent", "status", f"{url} answers {response.status}; the {what} has to be there.")
    plain = _plain(response.outcome)
    return Finding("undetermined", "unreachable", f"{url} could not be read ({plain}); try again later.")


def _redirected(answer: Answer, limit: int, what: str) -> Finding | Ask:
    """So many hops, https, within the site: another host's word proves nothing."""
    ask = answer.ask
    try:
        target = canonical(answer.response.header("Location") or "", ask.url)
    except UrlRefused as error:
        return Finding("absent", "redirect", f"The {what} redirects to an address that is not followed: {error}.")
    if not same_site(target, answer.site.head.site):
        return Finding("absent", "redirect_offsite", f"The {what} redirects to another site; that proves nothing.")
    if ask.hops >= limit:
        return Finding("absent", "redirect_limit", f"The {what} redirects more than {limit} times.")
    robots = answer.site.robots.get(answer.job.id)
    if answer.profile.proofs.obey_robots and (robots is None or not robots.allows(target)):
        return _denied(target)
    return Ask(kind=ask.kind, url=target, hops=ask.hops + 1)


def _denied(url: str) -> Finding:
    return Finding("undetermined", "robots", f"robots.txt does not let us read {url}; allow it, or prove by DNS.")


def _plain(outcome: Outcome) -> str:
    """A customer is told nothing of addresses that were refused (no port-scan oracle)."""
    return "unreachable" if outcome is Outcome.REFUSED_ADDRESS else str(outcome).replace("_", " ")


def _tokens(answer: Answer) -> tuple[str, ...]:
    """The tokens that count: those that are issued now, and at a later start the one that was found before."""
    policy, job, site = answer.policy, answer.job, answer.site
    name = tokens.name_for(policy.profile, site.head.site, job.host)
    now = tokens.accepted(policy.token_key, policy.profile.name, job.account, name, job.accepted_at)
    proof = answer.account.proof
    return (proof.token, *now) if job.kind == "crawl" and proof is not None and proof.token else now


def conclude(
    site: Site, job: Job, at: float, policy: Policy, found: Finding
) -> tuple[Job, tuple[Fact, ...], Account | None]:
    """The job, the facts and the account after the looking."""
    if job.kind == "verification":
        return _verification(site, job, at, found)
    return _recheck(site, job, at, policy, found)


def _verification(site: Site, job: Job, at: float, found: Finding) -> tuple[Job, tuple[Fact, ...], Account | None]:
    """E13: a proof that is found is recorded; one that is not found removes nothing."""
    done = moved(job, ask=None)
    if found.result != "found":
        return done, (failed(site, job, at, found),), None
    held = _held(site, job)
    proof = Proof(
        method=found.method, host=found.host, at=at, weaker=found.weaker, path=found.path, token=found.token
    )  # fmt: skip
    account = held.model_copy(
        update={
            "proof": gate.better(held.proof, proof),
            "host": held.host or job.host,
            "start": held.start or job.start,
        }
    )
    fact = Verified(
        id=ids.event_id(job.id, "ended"), at=at, site=site.head.site, job=job.id, account=job.account,
        host=found.host, method=found.method, weaker=found.weaker, path=found.path, token=found.token,
    )  # fmt: skip
    return done, (fact,), account


def failed(site: Site, job: Job, at: float, found: Finding, *, refused: bool = False) -> VerificationFailed:
    """The fact that a proof was not found, or not looked for."""
    assert found.result != "found"
    return VerificationFailed(
        id=ids.event_id(job.id, "ended"), at=at, site=site.head.site, job=job.id, account=job.account,
        host=job.host, method=job.method, result="refused" if refused else found.result, reason=found.reason,
        cause=found.cause,
    )  # fmt: skip


def _recheck(
    site: Site, job: Job, at: float, policy: Policy, found: Finding
) -> tuple[Job, tuple[Fact, ...], Account | None]:
    """C06. Absent: the proof is off file. Absent or undetermined: no page above the standard limit."""
    held = _held(site, job)
    assert held.proof is not None
    there = found.result == "found"
    limits = gate.limits_of(policy.profile, held, job.plan, proved=there)
    done = moved(
        job, ask=None, recheck=False, limits=limits, under=held.proof.path if there else job.under,
        remove_above=gate.standard_pages(policy.profile, job.plan) if found.result == "absent" else None,
    )  # fmt: skip
    fact = ProofRechecked(
        id=ids.event_id(job.id, "rechecked"), at=at, site=site.head.site, crawl=job.id, account=job.account,
        host=job.host, method=held.proof.method, result=found.result, reason=found.reason, page_limit=limits.pages,
    )  # fmt: skip
    gone = held.model_copy(update={"proof": None, "lost_at": at})
    return done, (fact,), gone if found.result == "absent" else None


def _ended(site: Site, job: Job, at: float, policy: Policy, found: Finding) -> Change:
    """The looking ends without an answer to absorb."""
    done, facts, account = conclude(site, job, at, policy, found)
    head = with_job(site.head, done)
    if account is not None:
        head = head.model_copy(update={"accounts": {**head.accounts, job.account: account}})
    if job.kind != "verification":
        return Change(head, facts=facts)
    gone = without_job(head, done)
    return Change(gone.head, gone.parts, facts)


_LOOKS: dict[str, Callable[[Answer], Finding | Ask]] = {
    Kind.DNS_PROOF: _look_in_dns,
    Kind.TOKEN_FILE: _look_in_file,
    Kind.HOMEPAGE_PROOF: _look_in_page,
}
