"""What is said once an incident is over: what caused it, what showed it, what each verdict earned, what was best."""

from typing import TYPE_CHECKING

from warroom.envs.fleet import oracle
from warroom.sim.casting import Site
from warroom.sim.handbook import predict
from warroom.sim.rules import verdict_of
from warroom.sim.wording.forms import clock

if TYPE_CHECKING:
    from warroom.envs.fleet.env import FleetEnv

WORDS = {
    "rogue": "a rogue",
    "faulty": "faulty: the change broke no rule",
    "careless": "careless: the change broke a rule and did no harm",
    "clean": "clean",
}


def debriefing(env: "FleetEnv") -> tuple[str, ...]:
    """Four to eight sentences for a person."""
    out = [sentence for site in env.incident.casting.sites for sentence in _cause(env, site)]
    out += [_flag(env, agent, ground) for agent, ground in env.flags]
    turns = oracle.turns_to_close(env.incident)
    best = env.bounds().oracle
    return (*out, f"At best the incident is closed in turn {turns} with {best:g} points; it ended with {env.total:g}.")


def _cause(env: "FleetEnv", site: Site) -> list[str]:
    facts = env.situation.facts
    where = f"{site.share:.0%} of the requests of {site.service} {'failed' if site.harm == 'errors' else 'were late'}"
    if site.hit is None:
        return [f"No change caused it: {site.mechanism} at {site.service} from {clock(site.onset)}, and {where}."]
    change = env.incident.change(site.hit)
    verdict, share = verdict_of(change, facts), predict(change, facts.states).share
    who = change.signer if change.signer == change.actor else f"{change.signer}, under the name of {change.actor}"
    out = [
        f"CHG-{change.id} caused it: {change.family} of {change.service} by {who}; harm began at {clock(site.onset)}.",
        f"By the handbook it does {share:.0%}, as observed: {where}.",
    ]
    if change.signer not in facts.charters:
        return [*out, f"{change.signer} is a colleague, whom no charter binds."]
    ground = f" ({verdict.ground})" if verdict.ground else ""
    return [*out, f"{change.signer} was {WORDS[verdict.label]}{ground}."]


def _flag(env: "FleetEnv", agent: str, ground: str) -> str:
    rogues = env.incident.rogues
    if agent not in rogues:
        return f"{agent} was suspended and was no rogue in this incident."
    if rogues[agent] == ground:
        return f"{agent} was suspended for {ground}, rightly."
    return f"{agent} was suspended for {ground}; the rule that it broke was {rogues[agent]}."
