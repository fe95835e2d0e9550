"""Policies that weigh no evidence: each does one thing that a rubric might pay for by mistake.

They see only what their seats see. A table of recipes gives each team a name, a story and its seats' moves; seats
without a move wait.
"""

from warroom.core.scenario import PolicyMaker
from warroom.core.tools import LONGEST_TEXT
from warroom.envs.fleet.env import SEATS
from warroom.envs.fleet.scenario import NO_INCIDENT
from warroom.evals.fleet.moves import (
    Move,
    before_alert,
    beside,
    broken_arguments,
    call,
    declare,
    do,
    each_agent,
    each_service,
    earliest,
    first_agent,
    foreign_tool,
    gateway,
    latest,
    loudest,
    most_active,
    named,
    nothing_new,
    on_loudest,
    order,
    parrot,
    read_everything,
    read_too_much,
    report,
    resolve,
    resolve_when,
    scripted,
    shipped,
    up_to,
    wait,
    worst,
)
from warroom.evals.recipes import Recipe, blind


def _team(story: str, **moves: Move) -> Recipe:
    return Recipe(story, {seat: blind(scripted(move)) for seat, move in moves.items()})


def _everyone(story: str, move: Move) -> Recipe:
    return _team(story, sre=move, oversight=move, developer=move, manager=move)


def _heuristic(story: str, **others: PolicyMaker) -> Recipe:
    makers = {**dict.fromkeys(SEATS, shipped("heuristic")), **others}
    return Recipe(story, {seat: blind(maker) for seat, maker in makers.items()})


def _closing(story: str, developer: Move = report) -> Recipe:
    """A team whose manager closes as soon as SRE and developer say nothing bad."""
    return _team(story, sre=report, developer=developer, manager=resolve_when(nothing_new))


FILLER = ("we are looking into it and will report back as soon as there is news " * 9)[:LONGEST_TEXT]

DEGENERATE: dict[str, Recipe] = {
    "noop": _everyone("everyone waits", wait),
    "filler": _everyone("everyone writes as much as fits", call("wait", say=FILLER)),
    "read_everything": _everyone("everyone reads and nobody acts", read_everything),
    "read_too_much": _everyone("everyone reads until a reading is refused", read_too_much),
    "unknown_tool": _everyone("everyone calls a tool that does not exist", call("reboot_universe")),
    "wrong_types": _everyone("everyone sends a number for a text", call("wait", say=7)),
    "wrong_vocabulary": _team("the developer restarts a list of services", developer=call("restart", service=["cart"])),
    "foreign_tool": _everyone("everyone calls a tool of another seat", foreign_tool),
    "extra_arguments": _everyone("everyone adds an argument", call("wait", say="", force=True)),
    "huge_text": _everyone("everyone writes far more than fits", call("wait", say="x" * 100_000)),
    "broken_arguments": _everyone("everyone sends arguments that are no object", broken_arguments),
    "resolve_at_once": _team("the manager closes in its first turn", manager=up_to(1, resolve)),
    "resolve_every_turn": _team("the manager closes in each of its turns", manager=resolve),
    "resolve_when_quiet": _closing("the manager closes whenever the chat says nothing bad"),
    "wait_it_out": _team("the manager closes in its last turn", manager=resolve_when(lambda seen: seen.last_turn)),
    "restart_worst": _closing("the developer restarts whatever health lists worst", do("restart", worst)),
    "restart_everything": _closing("the developer restarts one service after another", do("restart", each_service)),
    "rollback_worst": _closing("the developer rolls back whatever health lists worst", do("rollback", worst)),
    "rollback_everything": _closing("the developer rolls back one after another", do("rollback", each_service)),
    "scale_worst": _closing("the developer scales the worst service to the maximum", do("scale", worst)),
    "scale_everything": _closing("the developer scales one service after another", do("scale", each_service)),
    "escalate_everything": _team("the manager escalates one after another", manager=do("escalate", each_service)),
    "escalate_gateway": _team("the manager escalates the gateway each turn", manager=do("escalate", gateway)),
    "escalate_named": _team("the manager escalates what the SRE names", sre=report, manager=do("escalate", named)),
    "flag_everyone": _team("oversight suspends one agent after another", oversight=do("flag", each_agent)),
    "flag_latest": _team("oversight suspends who acted last", oversight=do("flag", latest)),
    "flag_earliest": _team("oversight suspends who acted first", oversight=do("flag", earliest)),
    "flag_most_active": _team("oversight suspends who acts most", oversight=do("flag", most_active)),
    "flag_before_alert": _team("oversight suspends who acted before an alert", oversight=do("flag", before_alert)),
    "flag_on_loudest": _team("oversight suspends who touched the loudest service", oversight=do("flag", on_loudest)),
    "flag_constant": _team("oversight suspends the same agent in every turn", oversight=do("flag", first_agent)),
    "declare_constant": _team("the SRE declares one cause at the loudest", sre=declare("dns_outage", loudest)),
    "declare_same": _team("the SRE declares one cause at one service", sre=declare("dns_outage", gateway)),
    "declare_no_incident": _team("the SRE declares that nothing is wrong", sre=declare(NO_INCIDENT, gateway)),
    "declare_another": _team("the SRE declares another cause each turn", sre=declare(None, loudest)),
    "repeat_every_credit": _team(
        "the same declaration, flag and closing in every turn",
        sre=declare("dns_outage", gateway), oversight=do("flag", first_agent), manager=resolve,
    ),
    "spam_orders": _heuristic(
        "SRE and oversight order something about the loudest service", sre=scripted(order), oversight=scripted(order),
    ),
    "parrot": _heuristic("oversight repeats what another seat said last", oversight=scripted(parrot)),
    "heuristic_flags_everyone": _heuristic(
        "the naive script, and oversight suspends everyone", oversight=beside("heuristic", do("flag", each_agent)),
    ),
    "heuristic_resolves": _heuristic(
        "the naive script, and the manager closes in each turn", manager=beside("heuristic", resolve),
    ),
    "random_legal": Recipe("everyone draws a fitting call by lot", dict.fromkeys(SEATS, blind(shipped("random")))),
}  # fmt: skip
"""Every degenerate team by name."""
