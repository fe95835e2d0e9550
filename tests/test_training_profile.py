"""What a game declares of its teaching: true of the game, and not needed by one that is content with the usual."""

from itertools import islice

import pytest

from warroom.envs import environments, make, suite
from warroom.policies import policy_names
from warroom.train.demonstrations import Mixture, demonstrations
from warroom.train.warmstart import WarmStart, plan_for


@pytest.mark.usefixtures("tiny")
def test_a_game_that_declares_nothing_is_taught_all_the_same() -> None:
    played = list(islice(demonstrations("tiny", Mixture(0.5, 0.5), "plain", 0), 20))
    assert {one.seat for incident in played for one in incident} == {"sre", "oversight"}
    assert plan_for(env="tiny") == WarmStart()


@pytest.mark.parametrize("name", sorted(environments()))
def test_what_is_declared_names_policies_tools_and_options_that_there_are(name: str) -> None:
    game = environments()[name]
    assert {"expert", *game.training_profile.behavior_policies} <= set(policy_names(name))
    assert set(game.compact_options) <= set(game.options.declared())
    ways = [make(suite(name)[0], "easy", 0, **options) for options in ({}, game.compact_options)]
    tools = {tool.name for env in ways for seat in env.SEATS for tool in env.tools_of(seat)}
    assert game.read_only_tools and {*game.read_only_tools, *game.training_profile.never_injected} <= tools
    assert not game.compact_vocab or {*game.training_profile.rare_words} <= {*game.compact_vocab().words}
    assert game.training_profile.job.format(seats="every seat")
