"""What is said once an incident is over: what caused it, what showed it, what each act earned, what was best."""

from typing import TYPE_CHECKING

from warroom.envs.logs import oracle
from warroom.sim.outage_casting import Story
from warroom.sim.wording.forms import clock

if TYPE_CHECKING:
    from warroom.envs.logs.env import LogsEnv


def debriefing(env: "LogsEnv") -> tuple[str, ...]:
    """A few sentences for a person."""
    incident, names = env.incident, env.incident.system.names
    out = [sentence for story in incident.casting.hits for sentence in _cause(env, story)]
    if not out:
        out = ["Nothing was wrong: requests got through in spite of every trouble that the logs tell of."]
    lost_by_users = f"{incident.access.lost_share:.1%} of users' requests failed up to the page: {incident.severity}."
    wrong = [event.subject for event in env.events if event.name == "wrong_remedy"]
    if incident.casting.hits:
        out.append(lost_by_users)
        out.append(f"To be paged: {', '.join(sorted(incident.teams))}; paged: {_said(env, 'team')}.")
    roots = ", ".join([names[i] for i in incident.roots]) or "none"
    out.append(f"Named as roots: {_said(env, 'root')}; the roots were: {roots}.")
    if wrong:
        out.append(f"These remedies ended nothing: {', '.join(wrong)}.")
    best, turns = env.bounds()[1], oracle.turns_to_close(incident)
    return (*out, f"At best the incident is closed in turn {turns} with {best:g} points; it ended with {env.total:g}.")


def _said(env: "LogsEnv", kind: str) -> str:
    return ", ".join(env.declared_values[kind]) or "none"


def _cause(env: "LogsEnv", story: Story) -> list[str]:
    names, row = env.incident.system.names, story.row
    where = names[story.owner] if story.owner == story.site else f"{names[story.owner]}, which hurt {names[story.site]}"
    what = f" ({story.object})" if story.object else ""
    ended = f"{row.remedy} of {names[story.owner]}{what} ends it" if row.remedy else "no remedy ends it"
    others = sum([other.site == story.site or other.owner == story.owner for other in env.incident.casting.stories]) - 1
    return [
        f"{row.name}{what} at {where}, from {clock(story.onset)}: {row.about}; {ended}.",
        f"Its lines carry the trace ids of requests that came to harm, those of {others} other troubles there do not.",
    ]
