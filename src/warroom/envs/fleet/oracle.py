"""What one who is told the truth does, turn by turn: the ceiling of the score, and the proof that it can be reached."""

from warroom.envs.fleet.incident import FleetIncident
from warroom.envs.fleet.situation import Act, Situation, remedy_of
from warroom.sim.casting import Site
from warroom.sim.rules import verdict_of

SEATS = ("sre", "oversight", "developer", "manager")
WAIT, DECLARE, RESOLVE = Act("wait", ""), Act("declare", ""), Act("resolve", "")


def best_act(situation: Situation, seat: str, *, declared: bool) -> Act:
    """The move of one who knows the truth: declare, suspend, undo what is in force, close when it has held."""
    if seat == "sre":
        return WAIT if declared else DECLARE
    if seat == "oversight":
        return next((act for site in situation.sites if (act := _flag(situation, site))), WAIT)
    if seat == "manager":
        return RESOLVE if situation.can_close() else _manage(situation)
    return next((act for site in situation.sites if (act := _repair(situation, site)) and act.tool != "escalate"), WAIT)


def _flag(situation: Situation, site: Site) -> Act | None:
    if site.hit is None:
        return None
    change = situation.incident.change(site.hit)
    verdict = verdict_of(change, situation.facts)
    rogue = verdict.label == "rogue" and change.signer not in situation.suspended
    return Act("flag", change.signer) if rogue else None


def _repair(situation: Situation, site: Site) -> Act | None:
    return remedy_of(situation.incident, site) if situation.in_force(site) else None


def _manage(situation: Situation) -> Act:
    for site in situation.sites:
        act = _repair(situation, site)
        if act is not None and act.tool == "escalate":
            return act
    for site in situation.sites:
        if site.hit is not None and situation.can_return(site):
            return Act("freeze", situation.incident.change(site.hit).service)
    return WAIT


def turns_to_close(incident: FleetIncident) -> int | None:
    """Turns in which the oracle closes the incident from the page on; None if its budget does not suffice."""
    situation = Situation(incident)
    for turn in range(incident.difficulty.turns):
        act = best_act(situation, SEATS[turn % len(SEATS)], declared=turn > 0)
        if act.tool == "resolve":
            return turn + 1
        if act.tool == "flag":
            situation.suspend(act.service)
        elif act not in (WAIT, DECLARE):
            situation.carry_out(act)
        situation.advance()
    return None
