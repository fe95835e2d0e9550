"""What only the truth knows stays there; and the scanner sees it when it does not."""

from dataclasses import replace
from typing import Any

import pytest

from warroom.core.scenario import TIERS
from warroom.core.types import Notice, ToolCall, Turn
from warroom.envs import make, suite
from warroom.envs.fleet.env import Fleet
from warroom.evals.leaks import (
    DRIVERS,
    RARE,
    compare_errors,
    compare_history,
    compare_notices,
    compare_static,
    order_of_repeats,
    order_of_strikes,
    order_of_victims,
    scan_leaks,
    scan_words,
    secrets,
    texts_of,
)
from warroom.evals.outcomes import Incident, incidents

ROGUES = ("fleet/rogue_deploy_bot", "fleet/feature_flag_flood", "fleet/certificate_misissue", "fleet/rogue_bystander")


def full(tier: str, seeds: int) -> list[Incident]:
    return incidents(suite("fleet", "full"), tier, "dev", range(seeds))


@pytest.mark.parametrize("tier", TIERS)
def test_no_page_reading_result_or_error_holds_a_word_of_the_truth(tier: str) -> None:
    shown = [text for incident in full(tier, 1) for driver in DRIVERS for text in texts_of(incident, driver)]
    assert len(shown) > 1000
    assert scan_words(shown) == []


def test_the_names_of_scenarios_and_mechanisms_are_secret() -> None:
    assert {"autoscaler_cost_cut", "bad_release", "rogue_bystander", "retry_storm", "stuck", "bluff"} <= secrets()


@pytest.mark.parametrize("tier", TIERS)
def test_briefs_and_tools_are_the_same_whatever_is_wrong(tier: str) -> None:
    assert compare_static(full(tier, 2)) == []


@pytest.mark.parametrize("tier", TIERS)
def test_wrong_calls_are_answered_the_same_whatever_is_wrong(tier: str) -> None:
    assert compare_errors(full(tier, 1)) == []


@pytest.mark.parametrize("tier", TIERS)
def test_right_and_wrong_flags_repairs_and_declarations_are_answered_alike(tier: str) -> None:
    assert compare_notices(full(tier, 1)) == []


def test_the_place_of_a_rogues_first_deed_in_its_minute_is_chance() -> None:
    todo = [incident for tier in TIERS for incident in incidents(ROGUES, tier, "dev", range(20))]
    found = order_of_strikes(todo)
    assert found.n > 100 and found.p > RARE


def test_the_place_of_the_victim_among_the_fitting_services_is_chance() -> None:
    found = order_of_victims([incident for tier in TIERS for incident in full(tier, 6)])
    assert found.n > 200 and found.p > RARE


def test_the_place_of_a_rogues_repeated_deed_in_its_minute_is_chance() -> None:
    found = order_of_repeats(incidents(ROGUES, "hard", "dev", range(20)))
    assert found.n > 30 and found.p > RARE


def test_healthy_services_wrote_lines_before_the_onset_too() -> None:
    assert compare_history(full("hard", 3)) == []


def test_a_word_of_the_truth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Fleet.page
    monkeypatch.setattr(Fleet, "page", lambda self: Notice(f"{plain(self).render()} {self.truth()['mechanism']}"))
    incident = Incident("fleet/cascade", "easy", 0)
    shown = [text for text in texts_of(incident, "random") if "result" not in text.where]
    assert {leak.detail for leak in scan_words(shown)} == {"retry_storm"}


def test_an_answer_that_tells_right_from_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Fleet.step

    def telling(self: Fleet, call: ToolCall) -> Turn:
        turn = plain(self, call)
        right = call.name == "flag" and call.arguments["agent"] in self.incident.rogues
        return replace(turn, result=Notice("Well done.")) if right else turn

    monkeypatch.setattr(Fleet, "step", telling)
    todo = incidents(["fleet/cascade", "fleet/rogue_deploy_bot"], "easy", "dev", [0])
    assert [leak.check for leak in compare_notices(todo)] == ["notice"]


def test_an_error_that_tells_the_cause_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Fleet.step

    def telling(self: Fleet, call: ToolCall) -> Turn:
        turn = plain(self, call)
        return replace(turn, result=Notice(f"No. {len(self.root_cause)}")) if turn.refused else turn

    monkeypatch.setattr(Fleet, "step", telling)
    assert compare_errors(incidents(["fleet/cascade", "fleet/rogue_deploy_bot"], "easy", "dev", [0]))


def test_a_scan_reads_every_episode_and_is_json() -> None:
    scan = scan_leaks(["easy"], [0], "core")
    data: dict[str, Any] = scan.to_json()
    assert data["episodes"] == len(DRIVERS) * len(suite("fleet", "core")) and data["leaks"] == []
    assert scan.texts > 10 * scan.episodes


def test_pages_can_be_read_at_any_time_without_a_trace_in_the_world() -> None:
    env, other = (make("fleet/cascade", "hard", 3) for _ in range(2))
    assert isinstance(env, Fleet) and isinstance(other, Fleet)
    for service in env.vocabularies["service"]:
        env.logs(service), env.metrics(service), env.traces(service)
    assert env.page() == other.page()
