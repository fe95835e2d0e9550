"""The episode loop: the only one. Evaluation and the terminal play by it; a loop of another's ends in `finish` too."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from warroom.core.env import Env
from warroom.core.episode import Episode, Step, trajectory_hash
from warroom.core.errors import EpisodeAborted, RunStopped
from warroom.core.scenario import Policy, Thinker
from warroom.core.splits import format_seed, split_of
from warroom.core.types import Observation, StepResult, ToolCall
from warroom.envs import make
from warroom.policies import PolicySet

if TYPE_CHECKING:
    from concurrent.futures import Future

StepCallback = Callable[[Env, Step, StepResult], None]
"""Sees each step after it was played; watches, never drives."""


class Game(NamedTuple):
    """One incident to be played, and for which time."""

    scenario: str
    tier: str
    seed: int
    attempt: int = 0


Asked = tuple[Policy, Observation]
Loop = Generator[Asked, ToolCall | None, Episode]
"""One episode: asks a policy, is sent its call, returns the record."""


def play(
    scenario: str,
    tier: str,
    seed: int,
    policy_set: PolicySet,
    on_step: StepCallback | None = None,
    options: Mapping[str, Any] | None = None,
    attempt: int = 0,
) -> Episode:
    """Play one incident to its end and return its record."""
    return play_many([Game(scenario, tier, seed, attempt)], policy_set, options, on_step)[0]


def play_many(
    games: Sequence[Game],
    policy_set: PolicySet,
    options: Mapping[str, Any] | None = None,
    on_step: StepCallback | None = None,
) -> list[Episode]:
    """Play incidents side by side: in each round the seats of one model are asked together.

    The episodes are those that `play` would give one by one, in the order of `games`. A defect of the environment or of
    a script names the episode that showed it; an episode that could not be played is an `Unplayed`.
    """
    done: dict[int, Episode] = {}
    for number, ended in played(games, policy_set, options, on_step):
        if isinstance(ended, EpisodeAborted):
            raise ended
        done[number] = ended
    return [done[number] for number in range(len(games))]


def played(
    games: Sequence[Game],
    policy_set: PolicySet,
    options: Mapping[str, Any] | None = None,
    on_step: StepCallback | None = None,
    width: int | None = None,
) -> Iterator[tuple[int, Episode | EpisodeAborted]]:
    """Play incidents side by side, at most `width` at a time, and yield each with its number as soon as it ends.

    An episode that infrastructure kept from its end is yielded as what went wrong. `Stopped` is raised once everything
    that was under way has ended.
    """
    table = _Table(games, policy_set, options or {}, on_step)
    try:
        while table.seat(width or len(games)):
            yield from table.turns()
            yield from table.kept_promises()
    finally:
        table.leave()
    if table.stopped is not None:
        raise table.stopped


class _Table:
    """Episodes that are played side by side, by their numbers."""

    def __init__(
        self, games: Sequence[Game], policy_set: PolicySet, options: Mapping[str, Any], on_step: StepCallback | None
    ) -> None:
        self.games, self.policy_set, self.options, self.on_step = games, policy_set, options, on_step
        self.stopped: RunStopped | None = None
        self._fresh = iter(range(len(games)))
        self._loops: dict[int, Loop] = {}
        self._calls: dict[int, ToolCall | None] = {}
        """What is to be played next."""
        self._promises: dict[Future[ToolCall], int] = {}
        """Calls that are on their way, of policies whose thinker has `promise(policy, observation)`."""

    def seat(self, width: int) -> bool:
        """Fill empty places with new games; False once there is nothing left to play."""
        for number in islice(self._fresh, width - len(self._loops)) if self.stopped is None else ():
            self._loops[number] = _loop(self.games[number], self.policy_set, self.options, self.on_step)
            self._calls[number] = None
        return bool(self._loops)

    def turns(self) -> Iterator[tuple[int, Episode]]:
        """Play what was called; yields the episodes that end by it, and asks for the next calls of the others."""
        asked: dict[int, Asked] = {}
        for number, call in self._calls.items():
            try:
                asked[number] = self._loops[number].send(call)
            except StopIteration as end:
                del self._loops[number]
                yield number, end.value
            except Exception as error:
                error.add_note(_place(self.games[number], self.policy_set))
                raise
        for number, (policy, observation) in list(asked.items()):
            promise = getattr(thinker_of(policy), "promise", None)
            if promise is not None:
                self._promises[promise(policy, observation)] = number
                del asked[number]
        self._calls = dict(answered_together(asked))

    def kept_promises(self) -> Iterator[tuple[int, EpisodeAborted]]:
        """Once nothing else can be played, wait for a call that was promised; yields the episodes that fail."""
        if self._calls or not self._promises:
            return
        from concurrent.futures import FIRST_COMPLETED, wait  # scripts need none of it

        for promise in wait(self._promises, return_when=FIRST_COMPLETED).done:
            number = self._promises.pop(promise)
            try:
                self._calls[number] = promise.result()
            except EpisodeAborted as error:
                del self._loops[number]
                if isinstance(error, RunStopped):
                    self.stopped = error
                else:
                    yield number, error
            except Exception as error:
                error.add_note(_place(self.games[number], self.policy_set))
                raise

    def leave(self) -> None:
        """Forget what is still promised."""
        for promise in self._promises:
            promise.cancel()


def _loop(game: Game, policy_set: PolicySet, options: Mapping[str, Any], on_step: StepCallback | None) -> Loop:
    env = make(game.scenario, game.tier, game.seed, **options)
    policies = {seat: policy_set.seat(env, seat, game.attempt) for seat in env.SEATS}
    thinking = {seat for seat, policy in policies.items() if thinker_of(policy) is not None}
    steps: list[Step] = []
    while not env.done:
        observation, policy = env.observe(), policies[env.seat]
        call = (yield policy, observation) if env.seat in thinking else policy.act(observation)
        assert call is not None
        step, turn = record_step(env, call, observation.render())
        steps.append(step)
        if on_step is not None:
            on_step(env, step, turn)
    return build_episode(env, game.scenario, policy_set.name, steps, options, game.attempt)


def thinker_of(policy: Policy) -> Thinker | None:
    """What answers for a policy and for others of its kind at once; None for one that acts by itself."""
    found: Thinker | None = getattr(policy, "thinker", None)
    return found


def answered_together(asked: Mapping[int, Asked]) -> dict[int, ToolCall]:
    """The calls of policies that think, by the number of whoever asked: the seats of one model are asked together."""
    thinkers: dict[int, tuple[Thinker, list[int]]] = {}
    for number, (policy, _) in asked.items():
        thinker = thinker_of(policy)
        assert thinker is not None
        thinkers.setdefault(id(thinker), (thinker, []))[1].append(number)
    out: dict[int, ToolCall] = {}
    for thinker, numbers in thinkers.values():
        out |= zip(numbers, thinker.answer([asked[number] for number in numbers]), strict=True)
    return out


def _place(game: Game, policy_set: PolicySet) -> str:
    again = f", attempt {game.attempt}" if game.attempt else ""
    return f"while {policy_set.name} played {game.scenario} {game.tier}, {format_seed(game.seed)}{again}"


def record_step(env: Env, call: ToolCall, observation: str) -> tuple[Step, StepResult]:
    """Play one call and note what surrounded it; for loops that are not ours (trainers, servers)."""
    number, seat = env.turn, env.seat
    turn = env.step(call)
    step = Step(
        number,
        seat,
        observation,
        call.name,
        call.arguments,
        turn.result.render(),
        turn.reward,
        env.points(),
        turn.refused,
    )
    return step, turn


def build_episode(
    env: Env, scenario: str, policy: str, steps: list[Step], options: Mapping[str, Any], attempt: int = 0
) -> Episode:
    """The record of a finished episode, with the hash of its trajectory."""
    episode = Episode(
        env=env.name,
        scenario=scenario,
        tier=env.tier,
        seed=env.seed,
        split=split_of(env.seed).value,
        policy=policy,
        briefs={seat: env.brief(seat).render() for seat in env.SEATS},
        steps=tuple(steps),
        points=env.points(),
        total=env.total,
        score=env.score(),
        outcome=env.outcome(),
        truth=env.truth(),
        options=dict(options),
        attempt=attempt,
    )
    return replace(episode, trajectory_hash=trajectory_hash(episode.steps))
