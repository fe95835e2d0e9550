"""Write docs/environments.md from the code, so that it cannot say what the code does not do."""

import sys
from dataclasses import fields
from pathlib import Path

from warroom.core.scenario import TIERS
from warroom.core.splits import HELD_OUT
from warroom.envs import environments, find, make, scenarios, suite
from warroom.envs.fleet import rubric
from warroom.envs.fleet.env import CHANGES, Fleet, failures
from warroom.envs.fleet.policies import POLICIES
from warroom.sim import incident
from warroom.sim.automation import VERBS

HEAD = """# Environments

This page is made from the code: `make docs`. A test fails when it is out of date.
"""


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def scenario_rows(env: str) -> list[list[object]]:
    named = failures()
    held = {name: axis for axis, names in HELD_OUT.items() for name in names}
    rows: list[list[object]] = []
    for id in suite(env, "full"):
        scenario = find(id)[1]
        cast = named[scenario.name].cast if scenario.name in named else None
        who = (
            ""
            if cast is None
            else (cast.verb and " or ".join(VERBS[cast.verb])) or ("a colleague" if cast.person else "nature")
        )
        cure = "" if cast is None else cast.mechanism.cure
        core = "core, full" if "core" in scenario.suites else "full"
        rows.append([f"`{id}`", scenario.story, who, cure, core + (f"; held out ({held[id]})" if id in held else "")])
    return rows


def tier_rows() -> list[list[object]]:
    dials = [incident.TIERS[tier] for tier in TIERS]
    return [[f"`{f.name}`", *(getattr(dial, f.name) for dial in dials)] for f in fields(incident.Tier)]


def tool_rows(env: Fleet) -> list[list[object]]:
    rows: list[list[object]] = []
    for tool in env.tools.values():
        arguments = ", ".join(f"{p.name}{'' if p.required else '?'}" for p in tool.parameters)
        rows.append(
            [
                f"`{tool.name}({arguments})`",
                ", ".join(tool.seats) or "all",
                "ends the turn" if tool.ends_turn else "reading",
                tool.description,
            ]
        )
    return rows


def event_rows() -> list[list[object]]:
    points = {**rubric.RESOLUTION, **rubric.OVERSIGHT, **rubric.CASCADE}
    terms = {
        **dict.fromkeys(rubric.RESOLUTION, "resolution"),
        **dict.fromkeys(rubric.OVERSIGHT, "oversight"),
        **dict.fromkeys(rubric.CASCADE, "cascade"),
    }
    rows: list[list[object]] = [
        [f"`{name}`", terms[name], f"{points[name]:+g}", text] for name, text in rubric.EVENTS.items()
    ]
    return [*rows, ["every turn", "mttr", f"{rubric.PER_TURN:+g}", "linear: a wasted turn always costs the same"]]


SEES: list[list[object]] = [
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


def page() -> str:
    env = make("fleet/db_deadlock", "easy", 0)
    assert isinstance(env, Fleet)
    fleet = environments()["fleet"]
    named = failures()
    rogue = sum(failure.cast.verb is not None for failure in named.values())
    return "\n".join([
        HEAD, "## fleet", "", f"{fleet.summary}.", "",
        f"{len(scenarios())} scenarios: {len(named)} failures, {rogue} of them caused by a rogue agent, and "
        f"{len(scenarios()) - len(named)} arms that vary them.", "",
        table(["scenario", "story", "by whose hand", "mended by", "suite"], scenario_rows("fleet")),
        "### What each seat sees", "",
        table(["", *env.SEATS], SEES),
        "Later pages hold only what is new or not well. Nobody sees the truth.", "",
        "### Tools", "",
        f"One act a turn; up to {env.READS_PER_TURN} readings before it. {CHANGES} repairs per incident. "
        "A wrong call costs its turn.", "",
        table(["tool", "seat", "", "what it does"], tool_rows(env)),
        "### Points", "",
        f"Each event counts once per subject, whatever is repeated. Early means up to turn {rubric.EARLY}. "
        "`--rogue-multiplier` scales both points of the oversight term.", "",
        table(["event", "term", "points", "when"], event_rows()),
        "The score is the points scaled so that 0 is the no-op policy and 1 the oracle on that very incident, "
        "clipped to [-1, 1].", "",
        "### The tier dial", "",
        table(["", *TIERS], tier_rows()),
        "What each number means stands in `sim/incident.py`.", "",
        "### Automation", "",
        table(["verb", "agents"], [[f"`{verb}`", " and ".join(agents)] for verb, agents in VERBS.items()]),
        "### Policies", "",
        table(["policy", "what it is"], [
            ["`noop`", "waits: the floor of every score"], ["`random`", "any legal act, drawn evenly"],
            *[[f"`{name}`", " ".join((maker.__doc__ or "").split())] for name, maker in sorted(POLICIES.items())],
            ["`oracle`", "is told the truth: the ceiling"], ["`human`", "you, at the terminal"],
        ]),
        "One per seat: `--policy oversight=expert,rest=heuristic`.", "",
    ])  # fmt: skip


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
