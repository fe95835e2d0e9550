"""Rules that skip a source earn little, every source and every seat is needed, and the measurement would see a leak."""

from functools import cache

import pytest

from warroom.core.scenario import TIERS
from warroom.envs import suite
from warroom.evals.audit.fleet import panel
from warroom.evals.audit.fleet.panel import BLINDED, ONE_RULE, SHORTCUTS, Flag, View, Worth, measure, table
from warroom.evals.audit.fleet.seats import seat_losses
from warroom.evals.audit.spec import PanelRow

pytestmark = pytest.mark.slow
SEEDS = 2


@cache
def measured(tier: str) -> tuple[Worth, ...]:
    return tuple(measure(tier, suite("fleet", "full"), range(SEEDS), "dev"))


@cache
def rows(tier: str) -> dict[str, PanelRow]:
    return {row.rule: row for row in table(tier, measured(tier))}


@pytest.mark.parametrize("tier", TIERS)
def test_no_rule_that_skips_a_source_breaks_its_bound(tier: str) -> None:
    assert [row for row in rows(tier).values() if row.breaks] == []
    assert {row.rule for row in rows(tier).values() if row.bound is not None} == set(SHORTCUTS)


@pytest.mark.parametrize("tier", TIERS)
def test_who_reads_everything_earns_about_what_the_expert_earns(tier: str) -> None:
    assert rows(tier)["everything"].hi > 0.7  # few rogues: the interval is wide


@pytest.mark.parametrize("tier", TIERS)
def test_each_rule_alone_is_worth_a_part_and_all_of_them_the_whole(tier: str) -> None:
    parts = sum([rows(tier)[rule].share for rule in ONE_RULE])
    assert parts == pytest.approx(rows(tier)["everything"].share)


def test_who_skips_effects_or_papers_loses_most() -> None:
    whole = {rule: sum([rows(tier)[rule].share for tier in TIERS]) / 3 for rule in BLINDED}
    assert whole["everything"] - whole["without effects"] > 0.7
    assert whole["everything"] - whole["without charters and approvals"] > 0.3


def test_a_rule_that_knows_the_truth_breaks_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(view: View) -> Flag | None:
        return BLINDED["everything"](view)

    monkeypatch.setitem(panel.SHORTCUTS, "told", told)
    monkeypatch.setitem(panel.PANEL, "told", told)
    found = measure("easy", ["fleet/rogue_deploy_bot", "fleet/rate_limit_clamp"], range(4), "dev")
    assert "told" in [row.rule for row in table("easy", found) if row.breaks]


def test_a_team_without_one_seat_loses_points() -> None:
    lost = {row.seat: row.points for row in seat_losses("medium", ["fleet/rogue_deploy_bot"], range(3), "dev")}
    assert min(lost["oversight"], lost["developer"]) >= 20 and min(lost["sre"], lost["manager"]) >= 10
