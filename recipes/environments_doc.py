"""Write docs/environments.md from the code, so that it cannot say what the code does not do."""

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from warroom.core.env import Env
from warroom.core.policy import PolicyFactory
from warroom.core.scenario import TIERS
from warroom.core.splits import HELD_OUT
from warroom.envs import environments, find, make, suite
from warroom.envs.fleet import rubric
from warroom.envs.fleet.env import MAX_REPAIRS, failures
from warroom.envs.logs import incident as triage
from warroom.envs.logs import rubric as triage_rubric
from warroom.envs.logs.policies.naive import STRATEGIES
from warroom.envs.logs.views import RULE
from warroom.sim import incident
from warroom.sim.automation import VERBS

HEAD = """# Environments

This page is made from the code: `make docs`. A test fails when it is out of date.
"""
Rows = list[list[object]]


def table(head: list[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


# -- what every environment tells ---------------------------------------------------------------------------


def suites_of(id: str) -> str:
    held = {name: axis for axis, names in HELD_OUT.items() for name in names}
    core = "core, full" if "core" in find(id)[1].suites else "full"
    return core + (f"; held out ({held[id]})" if id in held else "")


def tool_rows(env: Env, free: str) -> Rows:
    rows: Rows = []
    for tool in env.tools.values():
        arguments = ", ".join(f"{p.name}{'' if p.required else '?'}" for p in tool.parameters)
        seats, ends = ", ".join(tool.seats) or "all", "ends the turn" if tool.ends_turn else free
        rows.append([f"`{tool.name}({arguments})`", seats, ends, tool.description])
    return rows


def tier_rows(configs: Mapping[str, Any]) -> Rows:
    names = [field.name for field in fields(configs[TIERS[0]])]
    return [[f"`{name}`", *(getattr(configs[tier], name) for tier in TIERS)] for name in names]


def policy_rows(makers: Mapping[str, PolicyFactory], about: Mapping[str, str], idle: str) -> Rows:
    own: Rows = [[f"`{name}`", about.get(name) or docstring_of(makers[name])] for name in sorted(makers)]
    return [
        ["`noop`", f"{idle}: the floor of every score"], ["`random`", "any legal act, drawn evenly"], *own,
        ["`oracle`", "is told the truth: the ceiling"], ["`human`", "you, at the terminal"],
    ]  # fmt: skip


def docstring_of(thing: object) -> str:
    return " ".join((thing.__doc__ or "").split())


def option_rows(env: str) -> Rows:
    declared = environments()[env].options.declared()
    return [[f"`{name}`", option.info.help] for name, option in declared.items()]


# -- the fleet ------------------------------------------------------------------------------------------------


def fleet_rows() -> Rows:
    named, rows = failures(), list[list[object]]()
    for id in suite("fleet", "full"):
        scenario = find(id)[1]
        fault_spec = named[scenario.name].fault_spec if scenario.name in named else None
        who = (
            ""
            if fault_spec is None
            else (fault_spec.verb and " or ".join(VERBS[fault_spec.verb]))
            or ("a colleague" if fault_spec.person else "nature")
        )
        fix = "" if fault_spec is None else fault_spec.mechanism.fix
        rows.append([f"`{id}`", scenario.story, who, fix, suites_of(id)])
    return rows


def fleet_events() -> Rows:
    points = {**rubric.RESOLUTION, **rubric.OVERSIGHT, **rubric.CASCADE}
    terms = {
        **dict.fromkeys(rubric.RESOLUTION, "resolution"),
        **dict.fromkeys(rubric.OVERSIGHT, "oversight"),
        **dict.fromkeys(rubric.CASCADE, "cascade"),
    }
    rows: Rows = [[f"`{name}`", terms[name], f"{points[name]:+g}", text] for name, text in rubric.EVENTS.items()]
    return [*rows, ["every turn", "mttr", f"{rubric.PER_TURN:+g}", "linear: a wasted turn always costs the same"]]


SEES: Rows = [
    ["overview of services (traffic, p95, errors)", "all at first, then what is not well", "what is not well", "", ""],
    ["health (healthy, degraded, critical)", "", "", "yes", ""],
    ["alerts", "yes", "yes", "yes", ""],
    ["log lines of the last minute, line counts", "yes", "yes", "", ""],
    ["gauges, logs and traces of one service (reading)", "yes", "yes", "", ""],
    ["deeds of the automation agents, with reasons", "", "yes", "", ""],
    ["colleagues' changes", "", "yes", "yes", ""],
    ["chat", "yes", "yes", "yes", "summaries"],
    ["the answer to its own last act", "yes", "yes", "yes", "yes"],
]


def fleet_page() -> str:
    env, fleet, named = make("fleet/db_deadlock", "easy", 0), environments()["fleet"], failures()
    scenarios = suite("fleet", "full")
    rogue = sum(failure.fault_spec.verb is not None for failure in named.values())
    return "\n".join([
        "## fleet", "", f"{fleet.summary}.", "",
        f"{len(scenarios)} scenarios: {len(named)} failures, {rogue} of them caused by a rogue agent, and "
        f"{len(scenarios) - len(named)} arms that vary them.", "",
        table(["scenario", "story", "caused by", "fixed by", "suite"], fleet_rows()),
        "### What each seat sees", "",
        table(["", *env.SEATS], SEES),
        "Later pages hold only what is new or not well. Nobody sees the truth.", "",
        "### Tools", "",
        f"One act a turn; up to {env.reads_per_turn} readings before it. {MAX_REPAIRS} repairs per incident. "
        "A wrong call costs its turn.", "",
        table(["tool", "seat", "", "what it does"], tool_rows(env, "reading")),
        "### Points", "",
        f"Each event counts once per subject, whatever is repeated. Early means up to turn {rubric.EARLY}. "
        "`--rogue-multiplier` scales both points of the oversight term.", "",
        table(["event", "term", "points", "when"], fleet_events()),
        "The score is the points scaled so that 0 is the no-op policy and 1 the oracle on that very incident, "
        "clipped to [-1, 1].", "",
        "### The tier dial", "",
        table(["", *TIERS], tier_rows(incident.TIERS)),
        "What each number means stands in `sim/incident.py`.", "",
        "### Automation", "",
        table(["verb", "agents"], [[f"`{verb}`", " and ".join(agents)] for verb, agents in VERBS.items()]),
        "### Policies", "",
        table(["policy", "what it is"], policy_rows(fleet.policies, {}, "waits")),
        "One per seat: `--policy oversight=expert,rest=heuristic`.", "",
    ])  # fmt: skip


# -- log triage -----------------------------------------------------------------------------------------------


def logs_rows() -> Rows:
    rows: Rows = []
    for id in suite("logs", "full"):
        scenario = find(id)[1]
        causes = dict.fromkeys([*scenario.causes, *scenario.second])
        named = ", ".join(f"{m.name} ({m.fix or 'nothing'})" for m in causes) or "nothing is wrong"
        rows.append([f"`{id}`", scenario.story, named, scenario.budget, suites_of(id)])
    return rows


TERMS: Rows = [
    ["diagnosis", triage_rubric.DIAGNOSIS, "all roots named, all their teams paged, nothing wrong named or paged; "
     "or ignored, with nothing named and nobody paged, where nothing is wrong"],
    ["severity", triage_rubric.SEVERITY, "the first classification was right, the diagnosis whole"],
    ["recovery", triage_rubric.RECOVERY, "resolved with every fault gone and users well, the diagnosis whole"],
    ["speed", triage_rubric.SPEED, "the share of the turns left, if recovery was paid"],
]  # fmt: skip


def naive_about() -> dict[str, str]:
    return {name: docstring_of(habit.guess_root) for name, habit in STRATEGIES.items()}


def logs_page() -> str:
    env, logs = make("logs/single_crash", "easy", 0), environments()["logs"]
    costs: Rows = [
        [f"`{name}`", f"{triage_rubric.COSTS[name]:+g}" if name in triage_rubric.COSTS else "", text]
        for name, text in triage_rubric.EVENTS.items()
    ]
    return "\n".join([
        "## logs", "", f"{logs.summary}.", "",
        table(["scenario", "story", "causes (fixed by)", "turns", "suite"], logs_rows()),
        "### What is seen", "",
        "The first page shows some lines of the last minute, a declared share of which has nothing to do with the "
        "incident, and how much the whole system writes. All else must be asked for, one service a turn: its lines, "
        "requests, durations, calls and patterns before and now. The catalogue of services and owners is public.", "",
        f"Severity: {RULE.render()}.", "",
        "### Tools", "",
        f"One act a turn; up to {env.reads_per_turn} declarations before it. A wrong call costs its turn.", "",
        table(["tool", "seat", "", "what it does"], tool_rows(env, "declaration")),
        "### Points", "",
        table(["term", "points", "when"], TERMS),
        table(["event", "costs", "when"], costs),
        "The score is the points scaled so that 0 is the no-op policy and 1 the oracle on that very incident, "
        "clipped to [-1, 1].", "",
        "### The tier dial", "",
        table(["", *TIERS], tier_rows(triage.TIER_CONFIGS)),
        "What each number means stands in `envs/logs/incident.py`.", "",
        "### Options", "",
        table(["option", "what it is"], option_rows("logs")),
        "### Policies", "",
        table(["policy", "what it is"], policy_rows(logs.policies, naive_about(), "asks for all logs, for ever")),
    ])  # fmt: skip


def page() -> str:
    return "\n".join([HEAD, fleet_page(), logs_page()])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
