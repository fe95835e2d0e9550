"""The verdict on a log: the conclusion of the environment's expert, limited to what the lines support.

The expert knows its whole system and reads all of its logs. In lines of another system calls may be missing, formats
unknown and causes unstated, so a root may be wrong, a cause typical of the simulated world only, and the confidence
too high.
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
"""The highest confidence of a verdict that has caveats."""
HEALTHY_THRESHOLD = 0.5
"""Probability of no incident below which a log without a root is undetermined."""
MIN_SUSPECT_SHARE, MAX_SUSPECTS = 0.05, 3
"""Probability from which a service is a suspect beside the likeliest, and the most suspects."""
SUPPORT_THRESHOLD = 0.5
"""Probability of a symptom from which it supports its cause, and of a remedy from which it is suggested."""
SPECIFIC_SYMPTOMS = ("silent", "surge", "build", "job")
"""Symptoms that few causes have; that calls fail or take longer is common to most of them."""


@dataclass(frozen=True)
class SuggestedAction:
    """What may help, and why: because of the cause that was found, or because it usually does."""

    action: str
    """Empty if there is nothing to do but to wait and watch."""
    reason: str
    """Empty where the cause is reason enough."""


@dataclass(frozen=True)
class TriageResult:
    """A verdict on a log."""

    diagnosis: Diagnosis
    confidence: float
    """Probability that the first root is right; without roots, that the system is healthy or, if it is not, that the
    likeliest suspect is the root."""
    caveats: tuple[str, ...]
    """Why the confidence is at most `MAX_DOUBTFUL_CONFIDENCE`."""
    notes: tuple[str, ...]
    """What was disregarded."""
    users_affected: bool
    """Whether requests of users fail or are slow, with or without a root."""
    healthy: bool
    """Whether nothing seems wrong."""
    cause: str
    """Of the first root; `unknown` where no line supports one."""
    remedy: SuggestedAction

    @property
    def suspects(self) -> dict[str, float]:
        """The services that are likeliest to be the root, where none stands out."""
        ranked = sorted(self.diagnosis.posterior.items(), key=lambda item: (-item[1], item[0]))
        return {
            name: share for name, share in ranked[:MAX_SUSPECTS] if share >= MIN_SUSPECT_SHARE or name == ranked[0][0]
        }


def conclude_case(case: TriageCase) -> TriageResult:
    """Conclude, and keep what the lines support."""
    found = conclude(case.catalogue, case.service_logs, case.overview)
    system_view = system_view_of(case.catalogue, case.service_logs, case.overview)
    kept = _without_propagated(case, system_view, found)
    supported = [_is_supported(system_view, suspect) for suspect in kept.suspects]
    users_affected = users_are_affected(case, found.severity)
    caveats = tuple(_caveats(case, kept))
    return TriageResult(
        replace(kept, teams=_teams(case, kept.suspects, supported)),
        min(_confidence(kept, users_affected), MAX_DOUBTFUL_CONFIDENCE if caveats else 1.0),
        caveats,
        (f"{case.gateway} logs no calls, so its own failures count as those of its callees",)
        if kept is not found
        else (),
        users_affected,
        not kept.roots and not users_affected and kept.confidence >= HEALTHY_THRESHOLD,
        kept.cause if all(supported[:1]) else "unknown",
        _remedy(system_view, kept.suspects[0], supported[0]) if kept.suspects else SuggestedAction("", ""),
    )


def users_are_affected(case: TriageCase, severity: str) -> bool:
    """Whether so many requests of users fail, or take so much longer, that the severity is above P3."""
    logs = case.service_logs[case.gateway]
    if logs.handled is None or logs.failed is None:
        return False
    return severity != "P3" or logs.failed.now >= RULE.p2[0] * max(1.0, logs.handled.now)


def _confidence(found: Diagnosis, users_affected: bool) -> float:
    """The confidence; where no service logs its requests, the posterior of the likeliest suspect."""
    if found.roots:
        return found.confidence or found.posterior[found.roots[0]]
    unclear = users_affected or found.confidence < HEALTHY_THRESHOLD
    return max(found.posterior.values()) if unclear else found.confidence


# -- roots ------------------------------------------------------------------------------------------------


def _without_propagated(case: TriageCase, system_view: SystemView, found: Diagnosis) -> Diagnosis:
    """The diagnosis without the gateway as a root where it may only propagate failures of calls that are not logged."""
    others = tuple(suspect for suspect in found.suspects if suspect.service != case.gateway)
    if len(others) == len(found.roots) or case.service_logs[case.gateway].calls:
        return found
    if not any(row.failed.now > row.failed.before for other in others for _, row in system_view.rows[other.service]):
        return found
    # The symptoms at the gateway are those of the other root, and so is their posterior.
    confidence = min(1.0, sum(found.posterior[name] for name in {case.gateway, others[0].service}))
    sentences = evidence(system_view, [other.service for other in others], case.overview)
    return replace(found, suspects=others, confidence=confidence, evidence=sentences)


def _disconnected(case: TriageCase, roots: Sequence[str]) -> list[str]:
    """Services that no inferred call links with the gateway, if it matters to the roots."""
    calls = {(entry.name, callee) for entry in case.catalogue.entries for callee in entry.calls}
    linked = reachable(case.gateway, calls)
    disconnected = [name for name in case.catalogue.names if name not in linked]
    alone = case.gateway in roots and len(linked) == 1
    return disconnected if case.service_graph.inferred and (alone or set(roots) & set(disconnected)) else []


# -- causes, teams and remedies -----------------------------------------------------------------------------


def _is_supported(system_view: SystemView, suspect: Suspect) -> bool:
    """Whether a line supports the cause: by its words, or by a symptom that few other causes have."""
    symptoms = symptoms_of(system_view, suspect.service)._asdict()
    seen = any(
        symptoms[name] and suspect.cause.chances.get(name, 0.0) >= SUPPORT_THRESHOLD for name in SPECIFIC_SYMPTOMS
    )
    return seen or suspect.cause.words in system_view.words(suspect.service)


def _teams(case: TriageCase, suspects: Sequence[Suspect], supported: Sequence[bool]) -> tuple[str, ...]:
    """The teams of the causes that are supported, else the owners, each once."""
    owners = [case.catalogue.entry(suspect.service).team for suspect in suspects]
    causes = [suspect.team if known else "" for suspect, known in zip(suspects, supported, strict=True)]
    return tuple(dict.fromkeys(team or owner for team, owner in zip(causes, owners, strict=True)))


def _remedy(system_view: SystemView, suspect: Suspect, supported: bool) -> SuggestedAction:
    """That of a supported cause; else what usually helps a slow service, unless new words may contradict it."""
    if supported:
        return SuggestedAction(suspect.remedy, "")
    symptoms = symptoms_of(system_view, suspect.service)
    likely = suspect.remedy and _share(suspect, suspect.remedy) >= SUPPORT_THRESHOLD
    if not likely or system_view.words(suspect.service) or not (symptoms.late or symptoms.slow):
        return SuggestedAction("", "")
    kind = system_view.catalogue.entry(suspect.service).kind
    how = "calls time out" if symptoms.late else "answers take longer"
    return SuggestedAction(
        suspect.remedy, f"the likeliest to help a {kind} whose {how}, in a simulated world; no cause was recognised"
    )


def _share(suspect: Suspect, remedy: str) -> float:
    """Probability that a remedy helps, over all causes that the suspect may have."""
    best = suspect.causes[0].log_odds
    weights = [(exp(log_odds - best), cause.remedy) for log_odds, cause in suspect.causes]
    return sum(weight for weight, helps in weights if helps == remedy) / sum(weight for weight, _ in weights)


# -- caveats ----------------------------------------------------------------------------------------------


def _caveats(case: TriageCase, found: Diagnosis) -> Iterator[str]:
    if case.unparsed_warning:
        yield case.unparsed_warning
    if not found.roots:
        return
    disconnected = _disconnected(case, found.roots)
    if disconnected:
        listed = abbreviate(disconnected)
        yield f"the graph is disconnected: no line links {case.gateway} with {listed} (give --topology)"
    if not found.confidence:
        yield "no service logs its requests"
    if len(case.catalogue.names) == 1:
        yield f"there is no other service than {found.roots[0]} to compare with"
