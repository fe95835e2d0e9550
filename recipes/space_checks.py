"""Checks that OpenEnv's validation names and does not implement yet, made on a running server through its socket.

Each check has the id that OpenEnv reserves for it. The oracle's calls are worked out in this process, where the truth
is known, and sent like any client's.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from warroom.core.spec import EpisodeSpec
from warroom.core.types import ToolCall
from warroom.envs import env_spec, make, scenarios
from warroom.serve.client import Client, RequestRefused, SeatObservation, fetch
from warroom.serve.tasks import task_specs
from warroom.session import Session

CLOSE = 1e-9
"""How far two sums of points may be apart."""
Action = dict[str, Any]


class ValidationCheck(NamedTuple):
    """The outcome of one check."""

    id: str
    passed: bool
    evidence: str


@dataclass(frozen=True)
class ServerUnderTest:
    """A running server and what its Space declares."""

    url: str
    env: str
    declared: dict[str, Any]
    """The `validation:` block of its openenv.yaml."""
    canaries: dict[str, list[Action]]
    """Calls to be repeated to the end, by name; none of them deserves a score."""
    tasks: int = 12
    """How many tasks of the test split the semantic checks play."""

    def client(self) -> Client:
        """A session of its own."""
        return Client(self.url)


def subject(root: Path, url: str, tasks: int = 12) -> ServerUnderTest:
    """A server at `url` and what the folder of its Space declares."""
    manifest = yaml.safe_load((root / "openenv.yaml").read_text(encoding="utf-8"))
    declared = manifest["validation"]
    canaries = json.loads((root / declared["capabilities"]["canaries"]).read_text(encoding="utf-8"))
    return ServerUnderTest(url, manifest["name"], declared, canaries, tasks)


def run_checks(subject: ServerUnderTest) -> list[ValidationCheck]:
    """All checks, in the order of OpenEnv's list."""
    return [ValidationCheck(id, *check(subject)) for id, check in CHECKS.items()]


# -- playing ----------------------------------------------------------------------------------------


def play(client: Client, actions: Iterable[Action], **options: Any) -> list[SeatObservation]:
    """Every observation of an episode of these actions: to its end, or as far as they go."""
    received = [client.reset(**options)]
    for action in actions:
        if received[-1].done:
            break
        received.append(client.send(action))
    return received


def oracle_actions(spec: EpisodeSpec) -> list[Action]:
    """The calls of the oracle, up to the end."""
    env, calls = make(spec), []
    while not env.done:
        calls.append(env.oracle())
        env.step(calls[-1])
    return [{"tool": call.name, "arguments": dict(call.arguments)} for call in calls]


def play_oracle(url: str, env: str, split: str, index: int) -> SeatObservation:
    """The oracle's last observation of a task."""
    with Client(url) as client:
        return play(client, oracle_actions(task_specs(env, split)[index]), split=split, index=index)[-1]


def _idle(env: str, index: int) -> list[Action]:
    made = make(task_specs(env, "test")[index])
    calls = [made.brief(seat).noop_call for seat in made.SEATS]
    return [{"tool": call.name, "arguments": dict(call.arguments)} for call in calls]


# -- runtime ----------------------------------------------------------------------------------------


def trajectory_record(subject: ServerUnderTest) -> tuple[bool, str]:
    """The record of an episode through the socket is that of the same calls in process, hash for hash."""
    index, equal = 0, 0
    for index in range(subject.tasks):
        session = Session(task_specs(subject.env, "test")[index])
        actions = oracle_actions(session.spec)
        for action in actions:
            session.step(ToolCall(action["tool"], action["arguments"]))
        with subject.client() as client:
            last = play(client, actions, split="test", index=index)[-1]
        equal += last.trajectory_hash == session.result().trajectory_hash
    return equal == subject.tasks, f"{equal} of {subject.tasks} trajectories have the hash of the same play in process"


def reward_attribution(subject: ServerUnderTest) -> tuple[bool, str]:
    """The rewards of calls sum to the score, and the points by term are reported at the end."""
    worst, terms = 0.0, 0
    with subject.client() as client:
        for index in range(subject.tasks):
            actions = oracle_actions(task_specs(subject.env, "test")[index])
            received = play(client, actions, split="test", index=index, rewards="dense")
            rewarded = sum(each.reward or 0.0 for each in received)
            worst, terms = max(worst, abs(rewarded - (received[-1].score or 0.0))), len(received[-1].points)
    return worst < CLOSE and terms > 0, f"rewards of calls miss the score by {worst:.1e}; {terms} terms are reported"


def tool_declaration_accuracy(subject: ServerUnderTest) -> tuple[bool, str]:
    """The declared tools are those that the seats are given."""
    with subject.client() as client:
        play(client, _idle(subject.env, 0), split="test", index=0)
        found = {tool["name"] for tools in client.tools.values() for tool in tools}
    declared = set(subject.declared["capabilities"]["declared_tools"])
    return found == declared, f"{len(found)} tools shown, {len(found ^ declared)} declared otherwise"


def task_declaration_accuracy(subject: ServerUnderTest) -> tuple[bool, str]:
    """The declared numbers of tasks are those of the Task API, and the last task of each split can be started."""
    declared = subject.declared["capabilities"]["declared_task_count"]
    with subject.client() as client:
        counted = {split: client.num_tasks(split) for split in client.splits()}
        listed = {split: len({task.id for task in client.tasks(split)}) for split in counted}
        for split, count in counted.items():
            client.reset(split=split, index=count - 1)
    return counted == declared == listed, f"counted {counted}, declared {declared}"


def seed_control(subject: ServerUnderTest) -> tuple[bool, str]:
    """Equal seeds give equal incidents and others do not, in every session."""
    seeds = range(16)
    with subject.client() as client, subject.client() as other:
        first = [client.reset(seed=seed, split="test").text for seed in seeds]
        again = [other.reset(seed=seed, split="test").text for seed in reversed(seeds)][::-1]
    return first == again and len(set(first)) == len(seeds), f"{len(set(first))} incidents of {len(seeds)} seeds"


def episode_determinism(subject: ServerUnderTest) -> tuple[bool, str]:
    """Equal calls in equal incidents are answered equally, to the last field."""
    runs: list[list[list[SeatObservation]]] = []
    for _ in range(2):
        with subject.client() as client:
            runs.append([list(_canary(subject, client, name, index)) for index, name in enumerate(subject.canaries)])
    frames = sum(map(len, runs[0]))
    return runs[0] == runs[1], f"{frames} observations of {len(subject.canaries)} episodes, twice"


def episode_isolation(subject: ServerUnderTest) -> tuple[bool, str]:
    """Sessions do not affect one another: episodes played in turns are those played alone."""
    names = list(subject.canaries)[:4]
    alone = []
    for index, name in enumerate(names):
        with subject.client() as client:
            alone.append(list(_canary(subject, client, name, index)))
    clients = [subject.client() for _ in names]
    games = [_canary(subject, *each) for each in zip(clients, names, range(len(names)), strict=True)]
    mixed: list[list[SeatObservation]] = [[] for _ in names]
    going = set(range(len(names)))
    while going:
        for number in sorted(going):
            received = next(games[number], None)
            mixed[number] += [received] if received else []
            going -= set() if received else {number}
    for client in clients:
        client.close()
    return mixed == alone, f"{sum(map(len, alone))} observations of {len(names)} sessions played in turns"


FORBIDDEN_TEAMMATES = (
    "oracle",
    "human",
    "hf:.",
    "hf:/any/path=expert",
    "rest=hf:/any/path=expert",
    "rest=llm:any=expert",
)
"""Teammates that no client may choose."""


def oracle_containment(subject: ServerUnderTest) -> tuple[bool, str]:
    """No client gets the oracle as a teammate, nor makes the server read its files or call other servers."""
    seated = len(env_spec(subject.env).seats) > 1
    asked: list[dict[str, Any]] = [
        {"kb": "/"},
        {"recording": "/"},
        {"judge": "m@http://127.0.0.1"},
        {"debug_truth": True},
    ]
    asked += [{"seats": "sre", "teammates": name} for name in FORBIDDEN_TEAMMATES] if seated else []
    refused = 0
    with subject.client() as client:
        for options in asked:
            try:
                client.reset(**options)
            except RequestRefused:
                refused += 1
    return refused == len(asked), f"{refused} of {len(asked)} such requests were refused"


# -- semantic ---------------------------------------------------------------------------------------


def oracle_max(subject: ServerUnderTest) -> tuple[bool, str]:
    """The oracle gets the highest reward that is declared."""
    high, tolerance = subject.declared["reward"]["range"][1], subject.declared["reward"]["oracle_tolerance"]
    rewards = [play_oracle(subject.url, subject.env, "test", index).reward or 0.0 for index in range(subject.tasks)]
    worst = min(rewards)
    return worst >= high - tolerance - CLOSE, f"lowest reward of the oracle {worst:g} in {len(rewards)} tasks"


def floor_gap(subject: ServerUnderTest) -> tuple[bool, str]:
    """Doing nothing gets far less than the highest reward."""
    floors = []
    with subject.client() as client:
        for index in range(subject.tasks):
            last = play(client, cycle(_idle(subject.env, index)), split="test", index=index)[-1]
            floors.append(last.reward or 0.0)
    gap = subject.declared["reward"]["range"][1] - max(floors)
    return gap >= subject.declared["reward"]["floor_margin"], f"highest reward of doing nothing {max(floors):g}"


def canary_floor(subject: ServerUnderTest) -> tuple[bool, str]:
    """Calls that ignore the evidence stay far below the highest reward, on average over tasks."""
    means = {}
    with subject.client() as client:
        for name in subject.canaries:
            scores = [list(_canary(subject, client, name, index))[-1].reward or 0.0 for index in range(subject.tasks)]
            means[name] = sum(scores) / len(scores)
    best = max(means, key=lambda name: means[name])
    limit = subject.declared["reward"]["range"][1] - subject.declared["reward"]["floor_margin"]
    return means[best] <= limit, f"{len(means)} canaries; the best, {best}, gets {means[best]:.2f} on average"


def no_solution_leakage(subject: ServerUnderTest) -> tuple[bool, str]:
    """Nothing that a server sends names the scenario, the seed or a field of the truth."""
    found, frames = [], 0
    for index in range(subject.tasks):
        spec = task_specs(subject.env, "test")[index]
        with subject.client() as client:
            received = play(client, cycle(_idle(subject.env, index)), split="test", index=index)
            sent = [json.dumps(vars(each)) for each in received] + [json.dumps(vars(client.state()))]
        frames += len(sent)
        found += [text for text in sent if spec.scenario in text or str(spec.seed) in text]
        found += [str(each.truth) for each in received if each.truth or each.debug]
    with subject.client() as client:
        pages = [
            json.dumps(fetch(f"{subject.url}/{page}", None, 30)) for page in ("schema", "metadata", "openapi.json")
        ]
        pages.append(json.dumps([vars(task) for task in client.tasks("test", 0, 200)]))
    names = [name for name in scenarios() if name.startswith(subject.env)]
    found += [name for page in pages for name in names if name in page or f'"{name.partition("/")[2]}"' in page]
    return not found, f"{frames} observations and {len(pages)} pages; {len(found)} leaks" + f": {found[:1]}" * bool(
        found
    )


def verifier_determinism(subject: ServerUnderTest) -> tuple[bool, str]:
    """The same play gets the same reward every time."""
    spread = 0.0
    for index in range(subject.tasks):
        rewards = [play_oracle(subject.url, subject.env, "test", index).reward or 0.0 for _ in range(3)]
        spread = max(spread, max(rewards) - min(rewards))
    return spread == 0.0, f"rewards of three equal plays differ by {spread:g} in {subject.tasks} tasks"


def replayability(subject: ServerUnderTest) -> tuple[bool, str]:
    """An episode whose socket breaks can be resumed on another, and ends the same."""
    equal = 0
    for index in range(subject.tasks):
        actions, received = oracle_actions(task_specs(subject.env, "test")[index]), []
        for broken in (False, True):
            with subject.client() as client:
                client.reset(split="test", index=index)
                for number, action in enumerate(actions):
                    if broken and number == len(actions) // 2:
                        client.close()
                    last = client.send(action)
                received.append(last)
        equal += received[0] == received[1]
    return equal == subject.tasks, f"{equal} of {subject.tasks} episodes ended alike with and without a broken socket"


def _canary(subject: ServerUnderTest, client: Client, name: str, index: int) -> Iterator[SeatObservation]:
    """The observations of an episode of a canary, as they come."""
    received = client.reset(split="test", index=index)
    yield received
    for action in cycle(subject.canaries[name]):
        if received.done:
            return
        received = client.send(action)
        yield received


CHECKS: dict[str, Callable[[ServerUnderTest], tuple[bool, str]]] = {
    "runtime.trajectory_record": trajectory_record,
    "runtime.reward_attribution": reward_attribution,
    "runtime.tool_declaration_accuracy": tool_declaration_accuracy,
    "runtime.task_declaration_accuracy": task_declaration_accuracy,
    "runtime.seed_control": seed_control,
    "runtime.episode_determinism": episode_determinism,
    "runtime.episode_isolation": episode_isolation,
    "runtime.oracle_containment": oracle_containment,
    "semantic.oracle_max": oracle_max,
    "semantic.floor_gap": floor_gap,
    "semantic.canary_floor": canary_floor,
    "semantic.no_solution_leakage": no_solution_leakage,
    "semantic.verifier_determinism": verifier_determinism,
    "semantic.replayability": replayability,
}
"""Every check by the id that OpenEnv reserves for it."""
