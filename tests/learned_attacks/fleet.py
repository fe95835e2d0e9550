"""The learned attack on the fleet: what naive Bayes and boosted trees predict from the first observation of one seat.

They are trained on the train split. Handwritten naive policies do not find leaks; classifiers do. If a classifier that
sees one observation only does well, that observation reveals the answer. Features are what the observation shows, one
row per service and one per action of the automation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

from learned_attacks.sampling import KINDS, Floats, Labels, fresh_incidents, one_hot
from warroom.core.types import ToolCall
from warroom.envs import suite
from warroom.envs.fleet.env import FleetEnv
from warroom.envs.fleet.policies.naive import signature
from warroom.envs.fleet.views import FleetObservation, ServiceRow
from warroom.sim.automation import VERBS
from warroom.sim.telemetry import Action
from warroom.sim.wordings import CLASSES

RULES = ("error rate", "latency", "cpu", "memory", "disk")
STATES = ("healthy", "degraded", "critical")
CATCH, FALSE_FLAG = 50.0, -75.0
"""Points of a right and of a wrong flag (the fleet's oversight term)."""


@dataclass(frozen=True)
class FleetAttackSample:
    """One incident as a learner sees it, with the answers beside."""

    services: Floats
    """One row of features per service."""
    target: int
    """Row of the victim; -1 when nothing is wrong."""
    fix: str
    actions: Floats
    """One row of features per fleet action on the page; empty when the seat sees none."""
    agents: tuple[str, ...]
    """The agent of each action row."""
    target_rows: tuple[int, ...]
    """The service row of each action row."""
    rogue_actions: Labels
    """Which action rows are harmful actions of a rogue."""
    rogues: frozenset[str]


def first_pages(env: FleetEnv) -> dict[str, FleetAttackSample]:
    """By seat: its first observation, when nobody has acted yet."""
    found = {}
    for _ in env.SEATS:
        found[env.seat] = sample(env)
        env.step(ToolCall("wait"))
    return found


def sample(env: FleetEnv) -> FleetAttackSample:
    """Features of the page of the seat whose turn it is, and the truth."""
    page, truth = env.observation(), env.truth()
    names = [name for name, _, _ in env.map.services]
    actions = page.actions or ()
    onsets = {(fault.agent, names[fault.target], fault.onset) for fault in env.incident.faults}
    return FleetAttackSample(
        services=_service_rows(env, page, names),
        target=names.index(truth["service"]) if truth["fix"] else -1,
        fix=truth["fix"],
        actions=_action_rows(page, actions),
        agents=tuple(a.agent for a in actions),
        target_rows=tuple(names.index(a.service) for a in actions),
        rogue_actions=np.array([(a.agent, a.service, a.minute) in onsets for a in actions], dtype=np.bool_),
        rogues=frozenset(truth["rogues"]),
    )


def _service_rows(env: FleetEnv, page: FleetObservation, names: list[str]) -> Floats:
    rows = {row.service: row for row in page.services or ()}
    health = {row.service: row.state for row in page.health or ()}
    loudest = sorted((r for r in rows.values() if r.error is not None), key=lambda r: -(r.error or 0.0))
    rank = {row.service: k for k, row in enumerate(loudest)}
    out = []
    for name, kind, replicas in env.map.services:
        row = rows.get(name)
        alerts = [a for a in page.alerts or () if a.service == name]
        lines = [line for line in page.logs or () if line.service == name]
        signs = [signature(line.text) for line in lines]
        out.append([
            *one_hot(kind, KINDS), replicas,
            *_overview(row),
            rank.get(name, 99), *one_hot(health.get(name, ""), STATES),
            *(float(any(a.rule == rule for a in alerts)) for rule in RULES),
            min((a.minute for a in alerts), default=99), len(lines), sum(line.level == "ERROR" for line in lines),
            sum(name in line.text for line in page.logs or ()), *(float(signs.count(c)) for c in CLASSES),
            sum(p.service == name for p in page.deploys or ()),
        ])  # fmt: skip
    return np.array(out, dtype=np.float64)


def _overview(row: ServiceRow | None) -> tuple[float, float, float]:
    """Errors, and latency and traffic against the usual; -1 where the page shows none."""
    if row is None or row.error is None or row.p95 is None or row.rps is None:
        return (-1.0, -1.0, -1.0)
    return (row.error, row.p95 / row.usual_p95, row.rps / max(row.usual_rps, 1))


def _action_rows(page: FleetObservation, actions: Sequence[Action]) -> Floats:
    verbs = list(VERBS)
    out = []
    for k, action in enumerate(actions):
        before, _, after = action.detail.partition("->")
        ratio = int(after) / int(before) if action.verb == "scale" else 1.0
        figures = [
            float(word.strip("%"))
            for word in action.reason.replace(";", " ").split()
            if word.strip("%").replace(".", "").isdigit()
        ]
        out.append([
            verbs.index(action.verb), VERBS[action.verb].index(action.agent), ratio, action.minute, k, len(actions) - k,
            figures[0] if figures else -1.0, len(action.reason), float(";" in action.reason),
            sum(a.agent == action.agent for a in actions), sum(a.service == action.service for a in actions),
            sum(a.agent == action.agent and a.service == action.service for a in actions),
            sum(a.minute == action.minute for a in actions), float(action.detail[-1] in "02468"),
        ])  # fmt: skip
    return np.array(out, dtype=np.float64).reshape(len(actions), 14)


@dataclass(frozen=True)
class AttackResult:
    """What a learner achieves on incidents of the test split."""

    seat: str
    learner: str
    tier: str
    incidents: int
    target: float
    """Share of incidents in which it names the victim."""
    solved: float
    """Share in which victim, remedy and flags are all right: an upper bound on what playing it would solve."""
    flag_points: float
    """Points per incident of its flags, at the threshold that was best in training."""


def attack(seat: str, tier: str, learner: str, train: int, test: int) -> AttackResult:
    """Train on `train` and attack `test` incidents per scenario of the full suite."""
    make_learner = _LEARNERS[learner]
    train_samples, test_samples = _samples(seat, tier, "train", train), _samples(seat, tier, "test", test)
    victims = _fit(
        make_learner,
        [s.services for s in train_samples],
        [np.arange(len(s.services)) == s.target for s in train_samples],
    )
    wrong = [s for s in train_samples if s.target >= 0]
    remedies = make_learner()
    remedies.fit(np.array([s.services[s.target] for s in wrong]), [s.fix for s in wrong])
    flags = _flagger(make_learner, train_samples, None)
    joined = _flagger(make_learner, train_samples, victims)
    picks = [int(np.argmax(chance)) for chance in _chances(victims, [s.services for s in test_samples])]
    fixes = remedies.predict(np.array([s.services[pick] for s, pick in zip(test_samples, picks, strict=True)]))
    victims_found, solved, points = 0, 0, 0.0
    flagged = zip(flags(test_samples), joined(test_samples), strict=True)
    for s, pick, fix, (alone, beside) in zip(test_samples, picks, fixes, flagged, strict=True):
        victims_found += pick == s.target
        solved += pick == s.target and fix == s.fix and set(beside) == s.rogues
        points += sum(CATCH if agent in s.rogues else FALSE_FLAG for agent in alone)
    n = len(test_samples)
    return AttackResult(seat, learner, tier, n, victims_found / n, solved / n, points / n)


def _samples(seat: str, tier: str, split: str, count: int) -> list[FleetAttackSample]:
    return [pages[seat] for pages in _first_pages(tier, split, count)]


@cache
def _first_pages(tier: str, split: str, count: int) -> list[dict[str, FleetAttackSample]]:
    incidents = fresh_incidents(FleetEnv, suite("fleet", "full"), tier, split, range(count))
    return [first_pages(env) for _, env in incidents]


def _fit(make_learner: Callable[[], Any], rows: list[Floats], labels: list[Labels]) -> Any:
    model = make_learner()
    model.fit(np.concatenate(rows), np.concatenate(labels))
    return model


def _chances(model: Any, rows: list[Floats]) -> list[Floats]:
    """The chances of the rows of each incident; asked at once, since a question costs more than its rows."""
    chances = np.asarray(model.predict_proba(np.concatenate(rows))[:, -1], dtype=np.float64)
    return np.split(chances, np.cumsum([len(own) for own in rows])[:-1])


Flagger = Callable[[Sequence[FleetAttackSample]], list[list[str]]]
"""The agents that are flagged, incident by incident."""


def _flagger(make_learner: Callable[[], Any], train_samples: list[FleetAttackSample], victims: Any | None) -> Flagger:
    """A rule that flags the most suspect agent above a threshold; with `victims`, actions on likely ones count more."""
    if not sum(len(s.actions) for s in train_samples):
        return lambda samples: [[] for _ in samples]
    # The threshold is chosen on incidents that the model has not seen: chosen in sample it flags far too much.
    fitted, held = train_samples[::2], train_samples[1::2]
    model = _fit(make_learner, _suspicion_rows(fitted, victims), [s.rogue_actions for s in fitted])
    best = _most_suspect(held, model, victims)
    tried = np.quantile([suspect.chance for suspect in best], np.linspace(0, 1, 60))

    def points(threshold: float) -> float:
        return sum(
            (CATCH if suspect.agent in s.rogues else FALSE_FLAG)
            for s, suspect in zip(held, best, strict=True)
            if suspect.chance > threshold
        )

    threshold = max([*tried, 2.0], key=points)

    def flag(samples: Sequence[FleetAttackSample]) -> list[list[str]]:
        suspects = _most_suspect(samples, model, victims)
        return [[suspect.agent] if suspect.chance > threshold else [] for suspect in suspects]

    return flag


def _suspicion_rows(samples: Sequence[FleetAttackSample], victims: Any | None) -> list[Floats]:
    if victims is None:
        return [s.actions for s in samples]
    chances = _chances(victims, [s.services for s in samples])
    return [_joined_rows(s, chance) for s, chance in zip(samples, chances, strict=True)]


def _joined_rows(s: FleetAttackSample, chance: Floats) -> Floats:
    """The rows of the actions beside what the page says of their services."""
    target_rows, began = np.array(s.target_rows, dtype=np.intp), s.services[:, 5 + 1 + 3 + 1 + 3 + 5]
    return np.column_stack(
        [s.actions, chance[target_rows], s.services[target_rows, 6], s.actions[:, 3] - began[target_rows]]
    )


class Suspect(NamedTuple):
    """The agent whose action is the most likely harmful one; nobody where the page shows no action."""

    chance: float
    agent: str


def _most_suspect(samples: Sequence[FleetAttackSample], model: Any, victims: Any | None) -> list[Suspect]:
    chances = _chances(model, _suspicion_rows(samples, victims))
    return [
        Suspect(float(chance.max()), s.agents[int(np.argmax(chance))]) if len(chance) else Suspect(0.0, "")
        for s, chance in zip(samples, chances, strict=True)
    ]


def _trees() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(max_iter=120, learning_rate=0.08, random_state=0)


_LEARNERS: dict[str, Callable[[], Any]] = {"trees": _trees, "bayes": GaussianNB}
