"""One incident played from outside, call by call: some seats answer to a caller, colleagues play the others.

Trainers, servers and pages drive an incident by it; an evaluation has a policy for every seat and plays by `rollout`.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, TypeVar

from warroom.core.episode import Episode, Step
from warroom.core.errors import UnknownName
from warroom.core.types import Observation, StepResult, ToolCall
from warroom.envs import make
from warroom.policies import PolicySet
from warroom.rollout import Asked, answered_together, build_episode, record_step, thinker_of

Result = TypeVar("Result")
Play = Generator[Asked, ToolCall | None, Result]
"""A part of an incident that asks colleagues who think, and is sent their calls; scripts are played within."""


def together(plays: Sequence[Play[Result]]) -> list[Result]:
    """Play parts of several incidents side by side, so that one model answers for all of them at once."""
    calls: Mapping[int, ToolCall | None] = dict.fromkeys(range(len(plays)))
    done: dict[int, Result] = {}
    while calls:
        asked: dict[int, Asked] = {}
        for number, call in calls.items():
            try:
                asked[number] = plays[number].send(call)
            except StopIteration as end:
                done[number] = end.value
        calls = answered_together(asked)
    return [done[number] for number in range(len(plays))]


class Session:
    """An incident and the seats in it that a caller plays. Single use, like the environment within.

    Colleagues play until a seat of the caller's has its turn. After the end a call changes nothing and is answered that
    the incident is over. What a session offers as `Play` can be played side by side with other sessions (`together`).
    """

    def __init__(
        self,
        scenario: str,
        tier: str,
        seed: int,
        seats: Collection[str] = (),
        policy_set: PolicySet | None = None,
        options: Mapping[str, Any] | None = None,
        record: bool = True,
    ) -> None:
        """The caller plays `seats` (none named: all of them), and `team` the others.

        Without `record` no steps are kept, which a training has no use for. A `ValueError` says which seat is unknown,
        or has nobody who plays it.
        """
        self.scenario, self.options, self.record = scenario, dict(options or {}), record
        self.env = make(scenario, tier, seed, **self.options)
        for seat in seats:
            if seat not in self.env.SEATS:
                raise UnknownName(f"seat of {self.env.name}", seat, self.env.SEATS)
        self.seats = tuple(seat for seat in self.env.SEATS if seat in seats or not seats)
        others = [seat for seat in self.env.SEATS if seat not in self.seats]
        if others and policy_set is None:
            raise ValueError(f"nobody plays {', '.join(others)}: name a team for the seats that are not yours")
        self._teammates = {} if policy_set is None else {seat: policy_set.seat(self.env, seat) for seat in others}
        self.steps: list[Step] = []
        """Every call so far, of colleagues too; empty without `record`."""
        self._rendered: tuple[Observation | None, str] = (None, "")

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self.env.done

    @property
    def seat(self) -> str:
        """Whose turn it is: one of the caller's, once the session has begun."""
        return self.env.seat

    def observe(self) -> Observation:
        """What the acting seat sees: its page, the result of its last reading, or that the incident is over."""
        return self.env.observe()

    def observation_text(self) -> str:
        """What the acting seat sees, as text: rendered once, to be shown and recorded."""
        observation = self.observe()
        if observation is not self._rendered[0]:
            self._rendered = observation, observation.render()
        return self._rendered[1]

    def begin(self) -> Play[None]:
        """Come to the first turn of a seat of the caller's."""
        while not self.env.done and self.env.seat not in self.seats:
            policy, observation = self._teammates[self.env.seat], self.env.observe()
            call = policy.act(observation) if thinker_of(policy) is None else (yield policy, observation)
            assert call is not None
            self._step(call)

    def play(self, call: ToolCall) -> Play[StepResult]:
        """Play a call of the acting seat, then its colleagues until the caller's next turn."""
        turn = self._step(call)
        yield from self.begin()
        return turn

    def leave(self) -> Play[None]:
        """Leave the rest of the incident to the colleagues: the caller's seats idle to the end."""
        while not self.env.done:
            yield from self.begin()
            if not self.env.done:
                self._step(self.env.brief(self.env.seat).noop_call)

    def step(self, call: ToolCall) -> StepResult:
        """`begin` if need be and `play`, by itself."""
        together([self.begin()])
        return together([self.play(call)])[0]

    def episode(self, policy: str) -> Episode:
        """The record of the finished incident, under the name of whoever played."""
        assert self.env.done and self.record, "an episode is the record of an incident that is over"
        return build_episode(self.env, self.scenario, policy, self.steps, self.options)

    def _step(self, call: ToolCall) -> StepResult:
        if not self.record or self.env.done:
            return self.env.step(call)
        step, turn = record_step(self.env, call, self.observation_text())
        self.steps.append(step)
        self._rendered = turn.result, step.result
        return turn
