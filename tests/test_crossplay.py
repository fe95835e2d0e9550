"""Cross-play: which seats are played by whom, and what the matrix says."""

import csv
from pathlib import Path

import pytest

from command import refused, run
from warroom.evals.crossplay import CROSSPLAY, mixed_teams, team_of
from warroom.evals.crossplay_plot import PICTURE
from warroom.runs import read_episodes


def test_every_seat_of_a_team_plays_beside_the_others_of_each() -> None:
    teams = [team_of("expert"), team_of("heuristic")]
    found = [one.policies for one in mixed_teams(teams, ("sre", "manager"))]
    beside = ("expert", "sre=expert,rest=heuristic", "sre=heuristic,rest=expert", "heuristic")
    assert found == [*beside, *[name.replace("sre", "manager") for name in beside]]


@pytest.mark.slow
def test_the_matrix_is_the_mean_of_its_own_episodes(tmp_path: Path) -> None:
    out = tmp_path / "cross"
    words = ("crossplay", "expert", "noop", "--seats", "sre", "--tiers", "easy")
    done = run(*words, "--seeds", "1", "--split", "dev", "--suite", "core", "--workers", "1", "--out", out)
    assert done.exit_code == 0, done.output
    played: dict[str, list[float]] = {}
    for episode in read_episodes(out):
        played.setdefault(episode.policy, []).append(episode.score)
    rows = list(csv.DictReader((out / CROSSPLAY).read_text().splitlines()))
    assert len(rows) == len(played) == 4
    for row in rows:
        own, beside = row["seat_of"], row["beside"]
        scores = played[own if own == beside else f"sre={own},rest={beside}"]
        assert float(row["score"]) == pytest.approx(sum(scores) / len(scores), abs=1e-4)
        assert int(row["incidents"]) == len(scores)
        assert float(row["lo"]) <= float(row["score"]) <= float(row["hi"])
    assert (out / PICTURE).stat().st_size > 10_000 and (out / "report.html").is_file()


def test_what_cannot_be_crossed_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    out = tmp_path / "cross"
    for words, said in (
        (("expert",), "two different teams"),
        (("expert", "expert"), "two different teams"),
        (("expert", str(tmp_path)), "holds no model/"),
        (("expert", "llm:some"), "no models behind a server"),
        (("expert", "sre=expert,rest=noop"), "one policy in all seats"),
        (("expert", "noop", "--seats", "pilot"), "pilot"),
        (("expert", "noop", "--env", "logs"), "several seats"),
    ):
        assert said in refused("crossplay", *words, "--out", out)
    assert not out.exists()
