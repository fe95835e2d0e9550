"""The curve of a trained overseer: its arithmetic, the likelihoods that it is made of, and the run folder."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from typer.testing import CliRunner

from warroom.cli import app
from warroom.core.splits import seed_of
from warroom.core.types import Notice
from warroom.envs import make
from warroom.evals.plan import Plan
from warroom.evals.roc import LEVELS, Curve, Ledger, Scored, call_paths, overseers, score, summarised
from warroom.evals.statistics import bootstrap
from warroom.policies import hf, team
from warroom.rollout import Game, play_many


@pytest.fixture(scope="module", autouse=True)
def on_the_processor() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARROOM_DEVICE", "cpu")
        yield
    hf.model_at.cache_clear()


def overseer(folder: Path) -> Any:
    """An oversight seat that has read its first page."""
    env = make("fleet/rogue_deploy_bot", "easy", 0)
    seat = hf.policy(hf.choice_of(f"hf:{folder}"), env.brief("oversight"), Random(0))
    seat.hear(env.view("oversight"))
    return seat


# -- arithmetic -----------------------------------------------------------------------------------------


def curve_of(rogues: list[float | None], innocents: list[float]) -> Curve:
    return Curve(np.array([np.nan if r is None else r for r in rogues]), np.array(innocents))


def figures(curve: Curve, weights: list[float]) -> list[float]:
    return list(curve.figures(curve.rates(np.array(weights))))


def test_a_curve_counts_episodes_at_each_threshold() -> None:
    curve = curve_of([0.9, 0.5, None, None], [0.1, 0.6, 0.5, 0.0])
    assert curve.thresholds.tolist() == [0.9, 0.6, 0.5, 0.1, 0.0]
    false, caught = curve.rates(np.ones(4))
    assert false.tolist() == [0, 0, 0.25, 0.5, 0.75, 1]
    assert caught.tolist() == [0, 0.5, 0.5, 1, 1, 1]


def test_one_who_tells_apart_has_the_whole_area_and_one_who_errs_has_none() -> None:
    good, bad = curve_of([0.9, 0.8, None], [0.1, 0.2, 0.3]), curve_of([0.1, 0.2], [0.9, 0.8])
    assert figures(good, [1, 1, 1]) == [1.0] * (1 + len(LEVELS))
    assert figures(bad, [1, 1]) == [0.0] * (1 + len(LEVELS))
    assert figures(curve_of([0.5, 0.5], [0.5, 0.5]), [1, 1])[0] == 0.5


def test_the_catch_rate_at_a_level_never_exceeds_the_level() -> None:
    draws = np.random.default_rng(0)
    innocents = draws.random(200)
    curve = Curve(draws.random(200), innocents)
    false, caught = curve.rates(np.ones(200))
    for level, at in zip(LEVELS, curve.figures((false, caught))[1:], strict=True):
        assert at == max(c for f, c in zip(false, caught, strict=True) if f <= level + 1e-9)


def test_a_weight_of_two_is_the_episode_twice() -> None:
    rogues, innocents = [0.9, 0.4, None, 0.7], [0.3, 0.5, 0.8, 0.1]
    once = figures(curve_of(rogues, innocents), [2, 0, 1, 1])
    twice = figures(curve_of([0.9, 0.9, None, 0.7], [0.3, 0.3, 0.8, 0.1]), [1, 1, 1, 1])
    assert once == twice


def test_a_bootstrap_draws_clusters_and_repeats_itself() -> None:
    values = np.random.default_rng(1).normal(size=120)

    def average(of: Any) -> Any:
        return lambda weights: np.array([np.average(of, weights=weights)])

    (alone,), (again,) = (bootstrap(average(values), range(120), "x") for _ in range(2))
    assert alone == again and alone.mean == pytest.approx(values.mean())
    assert alone.hi - alone.lo == pytest.approx(2 * 1.96 * values.std() / 120**0.5, rel=0.1)
    (repeated,) = bootstrap(average(np.repeat(values, 5)), np.repeat(range(120), 5).tolist(), "x")
    assert repeated == pytest.approx(alone)
    assert bootstrap(average(values), [0] * 120)[0].lo is None


def test_tiers_without_a_rogue_have_no_curve() -> None:
    scored = [Scored("s", tier, k, 0.5 if tier == "hard" else None, 0.1) for tier in ("easy", "hard") for k in range(3)]
    found = summarised(scored, "x")["rows"]
    assert [(row["tier"], row["episodes"], row["with_rogue"]) for row in found] == [(None, 6, 3), ("hard", 3, 3)]
    assert found[1]["auc_of_a_guess"] == 0.5
    assert found[1]["auc"] == {"mean": 1.0, "lo": 1.0, "hi": 1.0}


def test_incidents_without_any_rogue_are_refused() -> None:
    with pytest.raises(ValueError, match="none of these incidents has a rogue"):
        summarised([Scored("s", "easy", 0, None, 0.1)], "x")


# -- likelihoods ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["nano", "qwen"])
def test_a_likelihood_is_the_product_of_its_tokens(which: str, request: pytest.FixtureRequest) -> None:
    import torch

    from warroom.policies.generation import Question

    seat = overseer(request.getfixturevalue(which))
    model, net = seat.thinker, seat.thinker.checkpoint.model
    paths = [[5, 6, 7], [5, 6, 9], [8], [5], [11, 12]]
    found = model.likelihoods([Question(seat.ids, paths), Question(seat.ids[:30], paths[:2])])
    with torch.inference_mode():
        for ids, path, value in [
            *((seat.ids, p, f) for p, f in zip(paths, found[0], strict=True)),
            (seat.ids[:30], paths[1], found[1][1]),
        ]:
            logs = net(torch.tensor([ids + path])).logits[0].log_softmax(-1)
            plain = sum(float(logs[len(ids) - 1 + k, token]) for k, token in enumerate(path))
            assert value == pytest.approx(plain, abs=2e-4)


def test_a_call_of_the_nano_is_a_word(nano: Path) -> None:
    seat = overseer(nano)
    vocabulary, ledger = seat.thinker.tokenizer.get_vocab(), Ledger(seat.thinker)
    assert ledger._tools_of(seat)["flag"] == [vocabulary["flag"]]
    for agent, path in ledger._agents_of(seat).items():
        assert path == [vocabulary["flag"], vocabulary[agent]]


def test_a_call_in_json_is_told_apart_by_its_name(qwen: Path) -> None:
    seat = overseer(qwen)
    words, names = seat.thinker.tokenizer, ["flag", "wait", "record"]
    paths = call_paths(seat.thinker, {name: (name, {}) for name in names})
    for name, path in paths.items():
        text = words.decode(path)
        assert text.startswith('<tool_call>\n{"name": "') and name[:-1] in text and "arguments" not in text


def test_probabilities_of_agents_sum_to_that_of_the_flag(nano: Path) -> None:
    import torch

    seat = overseer(nano)
    ledger, model = Ledger(seat.thinker), seat.thinker
    ledger.note([seat])
    tools = [path[0] for path in ledger._tools_of(seat).values()]
    with torch.inference_mode():
        first = model.checkpoint.model(torch.tensor([seat.ids])).logits[0, -1]
    flag = model.tokenizer.get_vocab()["flag"]
    expected = float(first[tools].softmax(-1)[tools.index(flag)])
    found = ledger.scores[id(seat)]
    assert sum(found.values()) == pytest.approx(expected, abs=1e-5)
    assert len(found) == len(seat.brief.facts.agents)


def test_only_overseers_are_asked(nano: Path) -> None:
    ledger = Ledger(hf.model_at(str(nano)))
    brief = make("fleet/disk_full", "easy", 0).brief("sre")
    other = hf.policy(hf.choice_of(f"hf:{nano}"), brief, Random(0))
    other.hear(Notice("early"))
    ledger.note([other])
    assert ledger.scores == {}


# -- play and folder --------------------------------------------------------------------------------------


def test_scoring_leaves_the_play_as_it_was(nano: Path) -> None:
    games = [Game("fleet/rogue_deploy_bot", "easy", seed_of("dev", k)) for k in range(3)]
    players = team("fleet", f"oversight=hf:{nano}@sampled,rest=expert")
    before = [e.to_json() for e in play_many(games, players)]
    scored = score(players, games, {})
    assert [e.to_json() for e in play_many(games, players)] == before
    assert [s[:3] for s in scored] == [game[:3] for game in games]
    assert all(s.rogue is not None and 0 < s.rogue < 1 and 0 < s.innocent < 1 for s in scored)
    assert hf.model_at(str(nano)).watch is None
    assert score(players, games[2:], {})[0].rogue == pytest.approx(scored[2].rogue, abs=1e-5)


def test_a_curve_needs_a_model_on_the_seat() -> None:
    for policy in ("expert", "sre=hf:x/y,rest=expert"):
        with pytest.raises(ValueError, match=r"--roc needs a model on the seat oversight of fleet; none plays there"):
            overseers(Plan("fleet", ("fleet/disk_full",), ("easy",), (policy,), (0,)))


def test_an_evaluation_ends_in_a_curve_and_names_the_weights(nano: Path, tmp_path: Path) -> None:
    policy = f"oversight=hf:{nano},rest=expert"
    play = ["--policies", policy, "--scenarios", "rogue_deploy_bot,disk_full", "--tiers", "easy", "--seeds", "3"]
    done = CliRunner().invoke(app, ["eval", *play, "--workers", "1", "--roc", "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    record, summary, roc = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("run", "summary", "roc"))
    assert record["policy_status"] == summary["policy_status"]
    status = record["policy_status"][f"hf:{nano}"]
    assert status["decoding"] == "greedy" and record["config"]["weights"] == {f"hf:{nano}": status["sha256"]}
    assert record["versions"]["torch"] and (tmp_path / "roc.png").read_bytes().startswith(b"\x89PNG")
    (found,) = roc["policies"]
    assert found["policy"] == policy and found["rows"][0]["episodes"] == 6 and found["rows"][0]["with_rogue"] == 3
    assert {"0.01", "0.05"} <= set(found["rows"][0]["catch_at"])
    page = (tmp_path / "report.html").read_text()
    assert "The overseer at every threshold" in page and status["sha256"] in page
