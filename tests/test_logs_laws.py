"""The laws of the logs at a few incidents; `recipes/logs_laws.py` goes through two thousand."""

import pytest

from cases import some_of
from warroom.evals.audit.logs.telling import SCENARIOS, TIERS, ObservedLaws, incident_of, violations
from warroom.sim.log_lines import LogLines
from warroom.sim.outage_tiers import OUTAGE_TIERS
from warroom.sim.outages import REMEDIES

INCIDENTS = 24
"""Every scenario at every tier."""


@pytest.mark.slow
@pytest.mark.parametrize("tier", some_of(TIERS, "medium"))
def test_what_is_told_in_several_places_agrees_and_names_what_there_is(tier: str) -> None:
    first = TIERS.index(tier) * len(SCENARIOS)
    for number in range(first, first + len(SCENARIOS)):
        env = incident_of(number)
        assert env.tier == tier and violations(env) == [], env.scenario


@pytest.mark.slow
def test_pages_are_as_noisy_as_declared_and_every_remedy_is_right_at_times() -> None:
    tally = ObservedLaws()
    for number in range(6 * INCIDENTS):
        tally.add(incident_of(number))
    for tier in TIERS:
        assert tally.noise(tier) == pytest.approx(OUTAGE_TIERS[tier].page_noise, abs=0.04)
    assert set(tally.remedies) == set(REMEDIES)
    assert min(tally.remedies.values()) >= 0.05 * tally.incidents


@pytest.mark.slow
def test_lines_of_hosts_that_there_are_not_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = LogLines.write
    monkeypatch.setattr(LogLines, "write", lambda self, line: plain(self, line)._replace(host="no-such-host"))
    assert {problem.partition(":")[0] for problem in violations(incident_of(1))} == {"names_exist"}
