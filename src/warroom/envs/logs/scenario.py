"""What a scenario file of log triage declares: which causes, how many roots, and how the trouble shows."""

from dataclasses import dataclass

from warroom.core.checks import check_choice, check_items, check_range, check_type
from warroom.envs.logs.signatures import SIGNATURES
from warroom.envs.logs.views import REMEDIES
from warroom.envs.scenario_file import read_header
from warroom.sim.incident import HISTORY
from warroom.sim.mechanism import INTERNAL, Mechanism

CORE, FULL, RECORDED = "core", "full", "recorded"
MAX_BUDGET = 30
"""Turns that an incident may have."""


@dataclass(frozen=True)
class OutageScenario:
    """A family of incidents: any fitting service as the root, any of the mechanisms as the cause."""

    name: str
    story: str
    budget: int
    """Turns, 1 to `MAX_BUDGET`."""
    causes: tuple[Mechanism, ...] = ()
    """None: nothing is wrong."""
    second: tuple[Mechanism, ...] = ()
    """Causes of an independent second root; none: there is one root."""
    onset: tuple[int, int] = (-5, -3)
    """Earliest and latest minute in which the trouble begins, relative to the page: -6 to -1."""
    silent_minutes: int = 0
    """Minutes after the onset before the root itself may write a word about it."""
    noisy_service: bool = False
    """Whether an innocent service writes many errors about its clients from the onset on."""
    min_noise: float = 0.0
    """Share of unrelated lines on a page that no tier goes below, 0 to 0.9."""
    suites: tuple[str, ...] = (FULL,)

    def __post_init__(self) -> None:
        check_type("budget", self.budget, int)
        check_range("budget", self.budget, 1, MAX_BUDGET)
        for field in ("causes", "second"):
            mechanisms = getattr(self, field)
            check_items(field, mechanisms, tuple, Mechanism)
            for mechanism in mechanisms:
                _check_mechanism(mechanism)
        if self.second and not self.causes:
            raise ValueError("an incident with a second root needs causes of the first one, got causes=()")
        _check_onset(self.onset)
        check_type("silent_minutes", self.silent_minutes, int)
        check_range("silent_minutes", self.silent_minutes, 0, MAX_BUDGET)
        check_type("noisy_service", self.noisy_service, bool)
        check_range("min_noise", self.min_noise, 0.0, 0.9)


def scenario(
    module: str,
    doc: str | None,
    *,
    budget: int,
    causes: tuple[Mechanism, ...] = (),
    second: tuple[Mechanism, ...] = (),
    onset: tuple[int, int] = (-5, -3),
    silent_minutes: int = 0,
    noisy_service: bool = False,
    min_noise: float = 0.0,
    core: bool = False,
) -> OutageScenario:
    """An outage named after its file; call it with `__name__` and `__doc__`. `OutageScenario` says what each means."""
    header = read_header(module, doc)
    return OutageScenario(
        header.name, header.story, budget, causes, second, onset, silent_minutes, noisy_service, min_noise,
        (CORE, FULL) if core else (FULL,),
    )  # fmt: skip


EARLIEST_ONSET = 4 - HISTORY
"""The window that replies call "before" ends just before it."""


def _check_onset(onset: object) -> None:
    check_items("onset", onset, tuple, int)
    assert isinstance(onset, tuple)
    if len(onset) != 2 or not EARLIEST_ONSET <= onset[0] <= onset[1] <= -1:
        raise ValueError(f"onset must be (earliest, latest) within {EARLIEST_ONSET} to -1, got {onset!r}")


def _check_mechanism(mechanism: Mechanism) -> None:
    """Refuse a mechanism that log triage has no remedy or no log lines for."""
    if mechanism.fix or mechanism.origin == INTERNAL:
        check_choice("fix of a logs mechanism", mechanism.fix, REMEDIES)
    check_choice("signature of a logs mechanism", mechanism.signature, SIGNATURES)
