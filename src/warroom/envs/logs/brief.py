"""What the agent on call reads once: the job, the rules, the catalogue. Never an answer key."""

from warroom.envs.logs.incident import LogsIncident
from warroom.envs.logs.oracle import SECURITY_RESPONSE_MINUTES
from warroom.envs.logs.rubric import (
    DIAGNOSIS,
    LEFT_OPEN,
    RECOVERY,
    REPEATED,
    SEVERITY,
    SPEED,
    WRONG_END,
    WRONG_REMEDY,
    WRONG_ROOT,
)
from warroom.envs.logs.views import RULE, WINDOW, Catalogue, ServiceEntry

JOB = (
    "You are on call and were paged at minute +0. Read the logs, find the service where the trouble began, have the "
    "right team paged, mend what can be mended, and close the incident. Callers complain; the root itself often says "
    "nothing."
)
RULES = (
    "Each turn is one minute; {budget} turns in all. A turn ends with one act: request_more_logs, remediate, resolve "
    "or ignore. Before it you may declare, at no cost of time, up to {declarations} times: classify_severity, "
    "identify_root_cause, escalate. First answers count. There may be two roots that do not depend on one another; "
    "name both. In replies 'before' are three minutes before any trouble began, 'now' the last {window}; the page's "
    "first line counts one minute of each. Counts are of the lines that the log pipeline kept, the same share of all "
    "services."
)
TEAMS_RULE = (
    "Severity, as users felt it in the {window} minutes up to the page, from the gateway's own requests: {rule}. Page "
    "the owner of the root service; sre if a provider outside the system is the cause (nothing here mends that, a "
    "rollback makes it worse, it comes back by itself); security if it is abuse (they stop it within {stopped} "
    "minutes). Resolve once nothing is broken and users are well; ignore if nothing was wrong."
)
POINTS = (
    f"Points: right roots and the right team, nothing wrong named or paged, {DIAGNOSIS:+g} (a right root with a wrong "
    f"team is worth nothing); then the right severity {SEVERITY:+g}, resolved rightly {RECOVERY:+g}, and up to "
    f"{SPEED:+g} for the turns left. Each wrong root {WRONG_ROOT:+g}, each remedy that goes at no fault "
    f"{WRONG_REMEDY:+g}, closing wrongly {WRONG_END:+g}, never closing {LEFT_OPEN:+g}, each repeated declaration "
    f"{REPEATED:+g}."
)


def triage_brief(catalogue: Catalogue, budget: int, declarations: int) -> str:
    """The job text."""
    return "\n".join((
        JOB,
        RULES.format(budget=budget, declarations=declarations, window=WINDOW),
        TEAMS_RULE.format(window=WINDOW, rule=RULE.render(), stopped=SECURITY_RESPONSE_MINUTES),
        POINTS,
        catalogue.render(),
    ))  # fmt: skip


def catalogue_of(incident: LogsIncident) -> Catalogue:
    """Who depends on whom, and who owns what."""
    system = incident.system
    return Catalogue(tuple([
        ServiceEntry(name, kind, owner, tuple([system.names[call.callee] for call in calls]))
        for name, kind, owner, calls in zip(system.names, system.kinds, incident.owners, system.calls, strict=True)
    ]))  # fmt: skip
