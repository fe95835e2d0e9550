"""What a log amounts to: the conclusion of the environment's expert, less what pasted lines cannot bear out.

The expert knows its whole system and reads all of its logs. In lines from elsewhere calls go unseen, formats unread and
causes unsaid, so a root may be too many, a cause a mere habit of the simulated world, and the confidence too high.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

from warroom.envs.logs.policies.causes import marks_of
from warroom.envs.logs.policies.diagnosis import Diagnosis, Suspect, conclude, picture_of
from warroom.envs.logs.policies.evidence import evidence
from warroom.envs.logs.policies.picture import Picture
from warroom.envs.logs.views import RULE
from warroom.importers.logs.case import Case
from warroom.importers.logs.names import some
from warroom.importers.topology.graph import reach

CAP = 0.6
"""The most that a verdict may be sure of where what it rests on is in doubt."""
WELL = 0.5
"""Probability of calm below which a log without a root is undetermined."""
WORTH_NAMING, MOST_NAMED = 0.05, 3
"""Probability from which a service is named as a suspect beside the likeliest, and how many are named."""
BORNE_OUT = 0.5
"""Chance of a mark under a cause from which the mark speaks for it, and of a remedy from which it is worth a try."""
TELLING = ("hushed", "surge", "build", "job")
"""Marks that few causes leave; that calls fail or take longer is common to most of them."""


@dataclass(frozen=True)
class Remedy:
    """What may help, and why: the cause that was found, or else what is usual."""

    act: str
    """Empty if there is nothing to do but to wait and look."""
    reason: str
    """Empty where the cause is reason enough."""


@dataclass(frozen=True)
class Conclusion:
    """A verdict on a log."""

    diagnosis: Diagnosis
    confidence: float
    """That the first root is right; without roots that all is well, or where it is not, that the likeliest is it."""
    doubts: tuple[str, ...]
    """Why the confidence is no more than `CAP`."""
    notes: tuple[str, ...]
    """What was set aside."""
    trouble: bool
    """Whether users fail or wait, root or no root."""
    calm: bool
    """Whether all seems well."""
    cause: str
    """Of the first root; `unknown` where no line speaks for one."""
    remedy: Remedy

    @property
    def suspects(self) -> dict[str, float]:
        """The likeliest services as the root, where none stands out."""
        ranked = sorted(self.diagnosis.standing.items(), key=lambda item: (-item[1], item[0]))
        return {name: share for name, share in ranked[:MOST_NAMED] if share >= WORTH_NAMING or name == ranked[0][0]}


def judge(case: Case) -> Conclusion:
    """Conclude, and keep what the lines bear out."""
    found = conclude(case.catalogue, case.readings, case.overview)
    picture = picture_of(case.catalogue, case.readings, case.overview)
    kept = _without_passed_on(case, picture, found)
    borne_out = [_borne_out(picture, suspect) for suspect in kept.suspects]
    trouble = users_suffer(case, found.severity)
    doubts = tuple(_doubts(case, kept))
    return Conclusion(
        replace(kept, teams=_teams(case, kept.suspects, borne_out)),
        min(_sure(kept, trouble), CAP if doubts else 1.0),
        doubts,
        (f"{case.gateway} tells of no calls, so its own failures count as those of its callees",)
        if kept is not found
        else (),
        trouble,
        not kept.roots and not trouble and kept.confidence >= WELL,
        kept.cause if all(borne_out[:1]) else "unknown",
        _remedy(picture, kept.suspects[0], borne_out[0]) if kept.suspects else Remedy("", ""),
    )


def users_suffer(case: Case, severity: str) -> bool:
    """Whether so many requests of users fail, or take so much longer, that this is more than a P3."""
    logs = case.readings[case.gateway]
    if logs.handled is None or logs.failed is None:
        return False
    return severity != "P3" or logs.failed.now >= RULE.p2[0] * max(1.0, logs.handled.now)


def _sure(found: Diagnosis, trouble: bool) -> float:
    """Where no service tells of its requests the expert knows nothing, and its shares of the suspects must do."""
    if found.roots:
        return found.confidence or found.standing[found.roots[0]]
    unclear = trouble or found.confidence < WELL
    return max(found.standing.values()) if unclear else found.confidence


# -- roots ------------------------------------------------------------------------------------------------


def _without_passed_on(case: Case, picture: Picture, found: Diagnosis) -> Diagnosis:
    """The diagnosis without the gateway as a root where it may only pass on failures of calls that it does not log."""
    others = tuple(suspect for suspect in found.suspects if suspect.service != case.gateway)
    if len(others) == len(found.roots) or case.readings[case.gateway].calls:
        return found
    if not any(row.failed.now > row.failed.before for other in others for _, row in picture.rows[other.service]):
        return found
    # The signs at the gateway are those of the other root, and so is what they weigh.
    sure = sum(found.standing[name] for name in {case.gateway, others[0].service})
    why = evidence(picture, [other.service for other in others], case.overview)
    return replace(found, suspects=others, confidence=min(1.0, sure), evidence=why)


def _apart(case: Case, roots: Sequence[str]) -> list[str]:
    """Services that no inferred call links with the gateway, if it matters to the roots."""
    calls = {(entry.name, callee) for entry in case.catalogue.entries for callee in entry.calls}
    linked = reach(case.gateway, calls)
    apart = [name for name in case.catalogue.names if name not in linked]
    alone = case.gateway in roots and len(linked) == 1
    return apart if case.drawn.inferred and (alone or set(roots) & set(apart)) else []


# -- causes, teams and remedies -----------------------------------------------------------------------------


def _borne_out(picture: Picture, suspect: Suspect) -> bool:
    """Whether a line speaks for the cause: its words, or a mark that few other causes leave."""
    marks = marks_of(picture, suspect.service)._asdict()
    seen = any(marks[mark] and suspect.cause.chances.get(mark, 0.0) >= BORNE_OUT for mark in TELLING)
    return seen or suspect.cause.words in picture.words(suspect.service)


def _teams(case: Case, suspects: Sequence[Suspect], borne_out: Sequence[bool]) -> tuple[str, ...]:
    """The teams of the causes that are borne out, else the owners, nobody twice."""
    owners = [case.catalogue.entry(suspect.service).team for suspect in suspects]
    causes = [suspect.team if sure else "" for suspect, sure in zip(suspects, borne_out, strict=True)]
    return tuple(dict.fromkeys(team or owner for team, owner in zip(causes, owners, strict=True)))


def _remedy(picture: Picture, suspect: Suspect, borne_out: bool) -> Remedy:
    """Of a cause that is borne out; else what mostly helps a slow service, unless new words may say otherwise."""
    if borne_out:
        return Remedy(suspect.remedy, "")
    marks = marks_of(picture, suspect.service)
    likely = suspect.remedy and _share(suspect, suspect.remedy) >= BORNE_OUT
    if not likely or picture.words(suspect.service) or not (marks.late or marks.slow):
        return Remedy("", "")
    kind = picture.catalogue.entry(suspect.service).kind
    how = "calls time out" if marks.late else "answers take longer"
    return Remedy(
        suspect.remedy, f"the likeliest to help a {kind} whose {how}, in a simulated world; no cause was recognised"
    )


def _share(suspect: Suspect, remedy: str) -> float:
    """Probability that a remedy helps, over all causes that the suspect may have."""
    best = suspect.causes[0].nats
    weights = [(exp(nats - best), cause.remedy) for nats, cause in suspect.causes]
    return sum(weight for weight, helps in weights if helps == remedy) / sum(weight for weight, _ in weights)


# -- doubts -----------------------------------------------------------------------------------------------


def _doubts(case: Case, found: Diagnosis) -> Iterator[str]:
    if case.much_unread:
        yield case.much_unread
    if not found.roots:
        return
    apart = _apart(case, found.roots)
    if apart:
        yield f"the graph is disconnected: no line links {case.gateway} with {some(apart)} (give --topology)"
    if not found.confidence:
        yield "no service tells of its requests"
    if len(case.catalogue.names) == 1:
        yield f"there is no other service than {found.roots[0]} to compare with"
