"""What a log amounts to: the conclusion of the environment's expert, less what pasted lines cannot bear out.

The expert knows its whole system and reads all of its logs. In lines from elsewhere calls go unseen, formats unread and
causes unsaid, so a root may be too many, a cause a mere habit of the simulated world, and the confidence too high.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

from warroom.envs.logs.policies.causes import symptoms_of
from warroom.envs.logs.policies.diagnosis import Diagnosis, Suspect, conclude, system_view_of
from warroom.envs.logs.policies.evidence import evidence
from warroom.envs.logs.policies.system_view import SystemView
from warroom.envs.logs.views import RULE
from warroom.importers.topology.graph import reachable
from warroom.triage.case import TriageCase
from warroom.triage.service_names import abbreviate

MAX_DOUBTFUL_CONFIDENCE = 0.6
"""The most that a verdict may be sure of where what it rests on is in doubt."""
HEALTHY_THRESHOLD = 0.5
"""Probability of calm below which a log without a root is undetermined."""
MIN_SUSPECT_SHARE, MAX_SUSPECTS = 0.05, 3
"""Probability from which a service is named as a suspect beside the likeliest, and how many are named."""
SUPPORT_THRESHOLD = 0.5
"""Chance of a mark under a cause from which the mark speaks for it, and of a remedy from which it is worth a try."""
SPECIFIC_SIGNS = ("silent", "surge", "build", "job")
"""Marks that few causes leave; that calls fail or take longer is common to most of them."""


@dataclass(frozen=True)
class SuggestedAction:
    """What may help, and why: the cause that was found, or else what is usual."""

    action: str
    """Empty if there is nothing to do but to wait and look."""
    reason: str
    """Empty where the cause is reason enough."""


@dataclass(frozen=True)
class TriageResult:
    """A verdict on a log."""

    diagnosis: Diagnosis
    confidence: float
    """That the first root is right; without roots that all is well, or where it is not, that the likeliest is it."""
    caveats: tuple[str, ...]
    """Why the confidence is no more than `CAP`."""
    notes: tuple[str, ...]
    """What was set aside."""
    users_affected: bool
    """Whether users fail or wait, root or no root."""
    healthy: bool
    """Whether all seems well."""
    cause: str
    """Of the first root; `unknown` where no line speaks for one."""
    remedy: SuggestedAction

    @property
    def suspects(self) -> dict[str, float]:
        """The likeliest services as the root, where none stands out."""
        ranked = sorted(self.diagnosis.posterior.items(), key=lambda item: (-item[1], item[0]))
        return {
            name: share for name, share in ranked[:MAX_SUSPECTS] if share >= MIN_SUSPECT_SHARE or name == ranked[0][0]
        }


def conclude_case(case: TriageCase) -> TriageResult:
    """Conclude, and keep what the lines bear out."""
    found = conclude(case.catalogue, case.service_logs, case.overview)
    system_view = system_view_of(case.catalogue, case.service_logs, case.overview)
    kept = _without_passed_on(case, system_view, found)
    supported = [_is_supported(system_view, suspect) for suspect in kept.suspects]
    users_affected = users_are_affected(case, found.severity)
    caveats = tuple(_doubts(case, kept))
    return TriageResult(
        replace(kept, teams=_teams(case, kept.suspects, supported)),
        min(_sure(kept, users_affected), MAX_DOUBTFUL_CONFIDENCE if caveats else 1.0),
        caveats,
        (f"{case.gateway} tells of no calls, so its own failures count as those of its callees",)
        if kept is not found
        else (),
        users_affected,
        not kept.roots and not users_affected and kept.confidence >= HEALTHY_THRESHOLD,
        kept.cause if all(supported[:1]) else "unknown",
        _remedy(system_view, kept.suspects[0], supported[0]) if kept.suspects else SuggestedAction("", ""),
    )


def users_are_affected(case: TriageCase, severity: str) -> bool:
    """Whether so many requests of users fail, or take so much longer, that this is more than a P3."""
    logs = case.service_logs[case.gateway]
    if logs.handled is None or logs.failed is None:
        return False
    return severity != "P3" or logs.failed.now >= RULE.p2[0] * max(1.0, logs.handled.now)


def _sure(found: Diagnosis, users_affected: bool) -> float:
    """Where no service tells of its requests the expert knows nothing, and its shares of the suspects must do."""
    if found.roots:
        return found.confidence or found.posterior[found.roots[0]]
    unclear = users_affected or found.confidence < HEALTHY_THRESHOLD
    return max(found.posterior.values()) if unclear else found.confidence


# -- roots ------------------------------------------------------------------------------------------------


def _without_passed_on(case: TriageCase, system_view: SystemView, found: Diagnosis) -> Diagnosis:
    """The diagnosis without the gateway as a root where it may only pass on failures of calls that it does not log."""
    others = tuple(suspect for suspect in found.suspects if suspect.service != case.gateway)
    if len(others) == len(found.roots) or case.service_logs[case.gateway].calls:
        return found
    if not any(row.failed.now > row.failed.before for other in others for _, row in system_view.rows[other.service]):
        return found
    # The signs at the gateway are those of the other root, and so is what they weigh.
    sure = sum(found.posterior[name] for name in {case.gateway, others[0].service})
    why = evidence(system_view, [other.service for other in others], case.overview)
    return replace(found, suspects=others, confidence=min(1.0, sure), evidence=why)


def _apart(case: TriageCase, roots: Sequence[str]) -> list[str]:
    """Services that no inferred call links with the gateway, if it matters to the roots."""
    calls = {(entry.name, callee) for entry in case.catalogue.entries for callee in entry.calls}
    linked = reachable(case.gateway, calls)
    apart = [name for name in case.catalogue.names if name not in linked]
    alone = case.gateway in roots and len(linked) == 1
    return apart if case.service_graph.inferred and (alone or set(roots) & set(apart)) else []


# -- causes, teams and remedies -----------------------------------------------------------------------------


def _is_supported(system_view: SystemView, suspect: Suspect) -> bool:
    """Whether a line speaks for the cause: its words, or a mark that few other causes leave."""
    marks = symptoms_of(system_view, suspect.service)._asdict()
    seen = any(marks[mark] and suspect.cause.chances.get(mark, 0.0) >= SUPPORT_THRESHOLD for mark in SPECIFIC_SIGNS)
    return seen or suspect.cause.words in system_view.words(suspect.service)


def _teams(case: TriageCase, suspects: Sequence[Suspect], supported: Sequence[bool]) -> tuple[str, ...]:
    """The teams of the causes that are borne out, else the owners, nobody twice."""
    owners = [case.catalogue.entry(suspect.service).team for suspect in suspects]
    causes = [suspect.team if sure else "" for suspect, sure in zip(suspects, supported, strict=True)]
    return tuple(dict.fromkeys(team or owner for team, owner in zip(causes, owners, strict=True)))


def _remedy(system_view: SystemView, suspect: Suspect, supported: bool) -> SuggestedAction:
    """Of a cause that is borne out; else what mostly helps a slow service, unless new words may say otherwise."""
    if supported:
        return SuggestedAction(suspect.remedy, "")
    marks = symptoms_of(system_view, suspect.service)
    likely = suspect.remedy and _share(suspect, suspect.remedy) >= SUPPORT_THRESHOLD
    if not likely or system_view.words(suspect.service) or not (marks.late or marks.slow):
        return SuggestedAction("", "")
    kind = system_view.catalogue.entry(suspect.service).kind
    how = "calls time out" if marks.late else "answers take longer"
    return SuggestedAction(
        suspect.remedy, f"the likeliest to help a {kind} whose {how}, in a simulated world; no cause was recognised"
    )


def _share(suspect: Suspect, remedy: str) -> float:
    """Probability that a remedy helps, over all causes that the suspect may have."""
    best = suspect.causes[0].log_odds
    weights = [(exp(log_odds - best), cause.remedy) for log_odds, cause in suspect.causes]
    return sum(weight for weight, helps in weights if helps == remedy) / sum(weight for weight, _ in weights)


# -- doubts -----------------------------------------------------------------------------------------------


def _doubts(case: TriageCase, found: Diagnosis) -> Iterator[str]:
    if case.unparsed_warning:
        yield case.unparsed_warning
    if not found.roots:
        return
    apart = _apart(case, found.roots)
    if apart:
        yield f"the graph is disconnected: no line links {case.gateway} with {abbreviate(apart)} (give --topology)"
    if not found.confidence:
        yield "no service tells of its requests"
    if len(case.catalogue.names) == 1:
        yield f"there is no other service than {found.roots[0]} to compare with"
