"""Why the experts make their calls: the reason names what the call is about, and nothing that was not shown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from warroom.chat import Chat
from warroom.core.policy import reason_of
from warroom.core.types import ToolCall
from warroom.envs import suite
from warroom.policies import policy_set

NUMBERED = re.compile(r"\b(?:CHG|KB|TKT|INC)-\d+\b")


class Reasoned(NamedTuple):
    """A call of an expert, why it made it, and all that its seat had been shown by then."""

    seat: str
    call: ToolCall
    reason: str
    shown: str


def played(spec: str) -> Iterator[Reasoned]:
    chat = Chat(spec)
    chat.begin()
    env = chat.session.env
    experts = {seat: policy_set(env.name, "expert").seat(env, seat) for seat in env.SEATS}
    while not chat.done:
        seat, expert = chat.seat, experts[chat.seat]
        call = expert.act(chat.session.observe())
        shown = "\n".join(str(message["content"]) for message in chat.conversations[seat].messages)
        yield Reasoned(seat, call, reason_of(expert, call), shown)
        chat.call(call.name, call.arguments)


def incidents(env: str, count: int) -> list[str]:
    names = suite(env, "full")
    return [f"{names[k % len(names)]}@{tier}#train:{700 + k}" for k in range(count) for tier in ("easy", "hard")]


@pytest.mark.parametrize("env", ["fleet", "logs", "tickets"])
def test_every_call_has_a_reason_whose_records_the_seat_was_shown(env: str) -> None:
    for spec in incidents(env, 12):
        for one in played(spec):
            assert one.reason, (spec, one.call)
            named = set(NUMBERED.findall(one.reason)) - set(NUMBERED.findall(str(one.call.arguments)))
            assert all(number in one.shown for number in named), (spec, one)


def test_the_reason_of_an_act_names_what_it_is_about() -> None:
    about = {"flag": "agent", "rollback": "change", "declare": "service", "restart": "service", "escalate": "service"}
    seen = set()
    for spec in incidents("fleet", 24):
        for one in played(spec):
            if one.call.name in about:
                seen.add(one.call.name)
                assert str(one.call.arguments[about[one.call.name]]) in one.reason, (spec, one)
    assert seen == set(about)


def test_the_reason_of_a_diagnosis_quotes_a_line_that_was_shown() -> None:
    quoted = 0
    for spec in incidents("logs", 12):
        for one in played(spec):
            if one.call.name == "identify_root_cause":
                (line,) = re.findall(r"The line '(.*?)' says", one.reason)[:1]
                assert line in one.shown, (spec, one)
                quoted += 1
    assert quoted > 10
