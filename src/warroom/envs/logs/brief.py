"""What the agent on call is told before the first page: the job, the rules, the points, and who owns what."""

from warroom.envs.logs.incident import LogsIncident
from warroom.envs.logs.oracle import SECURITY_RESPONSE
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
from warroom.sim.log_lines import KEPT

JOB = (
    "You are on call for the system below, and were paged. Read the logs, find the service where the trouble began, "
    "have the right team paged, end what can be ended, and close the incident. A service complains of what it calls, "
    "rightly or not: a fault in its own client, cache or build looks the same in numbers. The root itself may log "
    "little."
)
RULES = (
    "Each turn is one minute; {budget} turns in all. A turn ends with one act: request_more_logs, remediate, resolve "
    "or ignore. Before it you may declare, at no cost of time, up to {declarations} times: classify_severity, "
    "identify_root_cause, escalate. First answers count. There may be two roots that do not depend on one another: "
    "name both, and page every team that has to know. Counts are of all lines; of one kind of line the newest {kept} "
    "a minute are kept. Lines of one request share its trace id and its ctx (cohort/app version, region, class). "
    "Troubles that requests recover from are logged as often, and as loudly, as the one that makes them fail. How a "
    "request ended stands at the end of such a line: all tries used, less done than asked, an old version, a status "
    "from 500 on or more time than allowed is harm; the health beside a status is that of a check, not of the request."
)
TEAMS_RULE = (
    "Severity, by the share of users' requests that failed in the {window} minutes up to the page: {rule}. The "
    "gateway's log gives it when you read it, and beside it that of an hour before, as some requests fail on any day: "
    "the whole share decides how severe it is, the difference whether anything is wrong. Page the owner of the root "
    "service; sre if a provider outside the system is the cause (nothing here ends that, and it comes back by itself; "
    "the root is the service that calls it); security if it is abuse (they end it within {stopped} minutes; the root "
    "is the service that is abused). To wait for either, read logs. rollback needs the build, flush-cache the prefix "
    "and kill-query the session that did it, as object. restart clears the state of a process, scale helps where "
    "there is too little for the work. Resolve once nothing is broken any more; ignore if nothing was wrong."
)
POINTS = (
    f"Points: right roots and the right team, nothing wrong named or paged, {DIAGNOSIS:+g} (a right root with a wrong "
    f"team is worth nothing); then the right severity {SEVERITY:+g}, resolved rightly {RECOVERY:+g}, and up to "
    f"{SPEED:+g} for the turns left. Each wrong root {WRONG_ROOT:+g}, each remedy that ends no cause "
    f"{WRONG_REMEDY:+g}, closing wrongly {WRONG_END:+g}, never closing {LEFT_OPEN:+g}, each repeated declaration "
    f"{REPEATED:+g}."
)


def triage_brief(catalogue: Catalogue, budget: int, declarations: int) -> str:
    """The job text."""
    return "\n".join((
        JOB,
        RULES.format(budget=budget, declarations=declarations, kept=KEPT),
        TEAMS_RULE.format(window=WINDOW, rule=RULE.render(), stopped=SECURITY_RESPONSE),
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
