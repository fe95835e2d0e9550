"""Certificates: what makes an incident fair to serve, checked in full, the costly part included.

Serving checks what is cheap. What is checked beyond that belongs to each environment; here incidents are drawn, rows
collected and shares worked out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from warroom.core.env import Env
from warroom.core.splits import seed_of
from warroom.envs import make
from warroom.evals.audit.outcomes import Progress
from warroom.evals.statistics import share

Checks = Mapping[str, Sequence[bool]]
"""By name, whether each thing that a check concerns passes it: none where it does not apply."""


@dataclass(frozen=True)
class CertificateRow(ABC):
    """What was found of one incident. Subclasses add their findings, and say what they amount to."""

    scenario: str
    tier: str
    seed: int
    redraws: int
    """Draws that were thrown away before this one."""
    AGGREGATE_ONLY: ClassVar[frozenset[str]] = frozenset()
    """Checks that are judged by their share over many incidents, not in each."""

    @abstractmethod
    def checks(self) -> Checks:
        """The checks, in the order in which they are told."""

    @abstractmethod
    def metrics(self) -> Mapping[str, float]:
        """Measures of which the least, the twentieth and the median are told."""

    @property
    def valid(self) -> bool:
        """Whether everything holds that must hold of a single incident."""
        return all(all(passed) for name, passed in self.checks().items() if name not in self.AGGREGATE_ONLY)

    def to_json(self) -> dict[str, Any]:
        """For a program."""
        checks = {name: list(found) for name, found in self.checks().items()}
        return {**asdict(self), "checks": checks, "valid": self.valid}


Certifier = Callable[[Env, str], CertificateRow]
"""Certifies the incident of a fresh env; the text is the scenario's id."""


def run_certify(
    certify: Certifier,
    scenarios: Sequence[str],
    tiers: Sequence[str],
    seeds: Sequence[int],
    split: str = "dev",
    options: Mapping[str, Any] | None = None,
    progress: Progress = lambda count: None,
) -> list[CertificateRow]:
    """Certify incidents in full. `seeds` are indices into the split, `options` what they are built from besides."""
    rows = []
    for tier in tiers:
        for scenario in scenarios:
            for k in seeds:
                rows.append(certify(make(scenario, tier, seed_of(split, k), **(options or {})), scenario))
                progress(1)
    return rows


def aggregate(rows: Sequence[CertificateRow]) -> list[dict[str, Any]]:
    """Shares with intervals, by tier; a check is counted over those whom it concerns."""
    return [
        _summary(tier, [row for row in rows if row.tier == tier]) for tier in dict.fromkeys(row.tier for row in rows)
    ]


def _summary(tier: str, rows: Sequence[CertificateRow]) -> dict[str, Any]:
    checks = [row.checks() for row in rows]
    shares = {name: _share([found[name] for found in checks]) for name in checks[0]}
    shares["valid"] = _share([[row.valid] for row in rows])
    shares["first draw"] = _share([[row.redraws == 0] for row in rows])
    metrics = [row.metrics() for row in rows]
    return {
        "tier": tier,
        "n": len(rows),
        "redraws": sum(row.redraws for row in rows),
        "shares": shares,
        "figures": {name: _quantiles([found[name] for found in metrics if name in found]) for name in _names(metrics)},
    }


def _names(metrics: Sequence[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for found in metrics for name in found))


def _share(found: Sequence[Sequence[bool]]) -> dict[str, float | None] | None:
    """Clustered by incident; None where nobody is concerned."""
    values = [passed for one in found for passed in one]
    clusters = [number for number, one in enumerate(found) for _ in one]
    return share(values, clusters)._asdict() if values else None


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    n = len(ordered)
    return {"least": ordered[0], "p5": ordered[n // 20], "median": ordered[n // 2]}
