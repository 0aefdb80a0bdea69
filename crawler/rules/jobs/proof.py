"""Looking for a proof on the site itself (E09): robots.txt is not consulted, nothing that is seen is kept (E12)."""

from __future__ import annotations

from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.proofs import file_proves
from crawler.rules.tokens import token
from crawler.rules.urls import UrlRefused, canonical, host_of, same_site
from models import ids
from models.events import VerificationFailed, Verified
from models.state import Ask, Proof
from models.web import Outcome

HTML = ("text/html", "application/xhtml+xml")


def absorb(answer: Answer) -> Result:
    """The token file's answer: follow a redirect within the site, or say proved, absent or undetermined."""
    response = answer.response
    rule = answer.profile.proofs.file
    assert rule is not None
    if response.outcome is Outcome.REDIRECTED:
        return _redirected(answer, rule.max_redirects)
    if response.outcome is not Outcome.OK:
        if response.status is not None and 400 <= response.status < 500:
            return _failed(answer, "absent", f"{answer.ask.url} answers {response.status}; place the file there.")
        return _failed(answer, "undetermined", f"{answer.ask.url} could not be read ({_plain(response.outcome)}).")
    if (response.header("Content-Type") or "").split(";")[0].strip().lower() in HTML:
        return _failed(answer, "absent", "A web page came back instead of the token file; serve it as plain text.")
    expected = token(answer.policy.token_key, answer.profile.name, answer.job.account, answer.site.head.site)
    if not file_proves(response.body, expected, rule.value):
        return _failed(answer, "absent", "The file is there, but it does not hold this account's token on a line.")
    return _proved(answer)


def _redirected(answer: Answer, limit: int) -> Result:
    """At most two hops (E09), https, within the site: another host's word proves nothing."""
    ask = answer.ask
    try:
        target = canonical(answer.response.header("Location") or "", ask.url)
    except UrlRefused as error:
        return _failed(answer, "absent", f"The token file redirects to an address that is not followed: {error}.")
    if not same_site(target, answer.site.head.site):
        return _failed(answer, "absent", "The token file redirects to another site; that proves nothing.")
    if ask.hops >= limit:
        return _failed(answer, "absent", f"The token file redirects more than {limit} times.")
    onward = Ask(kind=ask.kind, url=target, hops=ask.hops + 1)
    return Result(moved(answer.job, ask=onward), Outcome.REDIRECTED)


def _proved(answer: Answer) -> Result:
    job, at = answer.job, answer.response.ended_at
    host = host_of(answer.ask.url)
    proof = Proof(method="token_file", host=host, at=at)
    account = answer.account
    account = account.model_copy(
        update={"proof": proof, "host": account.host or job.host, "start": account.start or job.start}
    )
    fact = Verified(
        id=ids.event_id(job.id, "ended"), at=at, site=answer.site.head.site, job=job.id, account=job.account,
        host=host, method="token_file", weaker=False,
    )  # fmt: skip
    return Result(moved(job, ask=None), Outcome.OK, facts=(fact,), over=True, account=account)


def _failed(answer: Answer, result: str, reason: str) -> Result:
    job = answer.job
    fact = VerificationFailed.model_validate(
        {
            "id": ids.event_id(job.id, "ended"), "at": answer.response.ended_at, "site": answer.site.head.site,
            "job": job.id, "account": job.account, "host": job.host, "method": job.method, "result": result,
            "reason": reason,
        }
    )  # fmt: skip
    return Result(moved(job, ask=None), answer.response.outcome, facts=(fact,), over=True)


def _plain(outcome: Outcome) -> str:
    """A customer is told nothing of addresses that were refused (no port-scan oracle)."""
    return "unreachable" if outcome is Outcome.REFUSED_ADDRESS else str(outcome).replace("_", " ")
