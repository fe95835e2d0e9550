"""The names of policies, and the sets that are made from them."""

import pickle

import pytest

from warroom.core.errors import UnknownName, unknown_name_message
from warroom.envs import episode_spec
from warroom.policies import policy_set
from warroom.policies.names import parse_seats, policies_in
from warroom.rollout import play

SEATS = ("sre", "oversight")


def test_one_name_plays_every_seat_and_rest_those_that_are_not_named() -> None:
    assert parse_seats("hf:runs/lr=3/model", SEATS) == dict.fromkeys(SEATS, "hf:runs/lr=3/model")
    assert parse_seats("oversight=llm:a=1/m:x,rest=noop", SEATS) == {"sre": "noop", "oversight": "llm:a=1/m:x"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ser=expert,rest=noop", "no seat 'ser'; did you mean 'sre'"),
        ("sre=expert,sre=noop", "the seat 'sre' is named twice"),
        ("sre=expert", "leaves oversight without a policy; add rest=POLICY"),
    ],
)
def test_a_wrong_seat_is_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_seats(text, SEATS)


def test_the_policies_of_an_entry_are_known_without_its_seats() -> None:
    assert policies_in("oversight=human,rest=hf:a=human/m") == {"human", "hf:a=human/m"}
    assert policies_in("llm:human=1") == {"llm:human=1"}


def test_an_unknown_policy_is_answered_by_every_kind_of_name() -> None:
    with pytest.raises(UnknownName, match=r"hf:PATH.*llm:MODEL.*oracle"):
        policy_set("fleet", "experrt")


@pytest.mark.parametrize(
    ("got", "allowed", "near"),
    [
        ("fleet/nope", ["fleet/cascade", "fleet/dns_outage"], ""),
        ("fleet/cascad", ["fleet/cascade", "fleet/dns_outage"], "fleet/cascade"),
        ("fleat/cascade", ["fleet/cascade", "logs/cascade"], "fleet/cascade"),
        ("fleet", ["expert", "noop"], ""),
        ("tyni", ["fleet", "tiny"], "tiny"),
    ],
)
def test_a_name_is_offered_where_the_other_may_be_a_slip(got: str, allowed: list[str], near: str) -> None:
    offered = f"; did you mean {near!r}?" if near else ""
    expected = f"no scenario {got!r} in x.py{offered} (allowed: {', '.join(allowed)})"
    assert unknown_name_message("scenario", got, allowed, "in x.py") == expected


def test_a_set_of_policies_is_pickled_and_plays_as_before() -> None:
    policies = policy_set("fleet", "sre=random,oversight=oracle,rest=heuristic")
    spec = episode_spec("fleet/db_deadlock", "easy", 3)
    twin = pickle.loads(pickle.dumps(policies))
    assert twin == policies and play(spec, twin) == play(spec, policies)
    models = policy_set("fleet", "oversight=hf:runs/mine@sampled,rest=llm:m")
    assert pickle.loads(pickle.dumps(models)) == models
