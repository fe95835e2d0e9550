"""Facts put into words: steps, conditions, whole articles, closed tickets, and what people write."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from warroom.core.splits import Split
from warroom.envs.tickets import phrases
from warroom.envs.tickets.facts import Configuration, Fact, Precondition, release
from warroom.envs.tickets.phrases import Phrases

QUOTES = ("`{}`", "{}", '"{}"')
"""How a writer marks what has to be typed literally."""
ORDER = {
    Split.TRAIN: (
        ("First", "Then", "Finally"),
        ("Start:", "Next:", "Last:"),
        ("To begin,", "After that,", "At the end,"),
    ),
    Split.TEST: (("One:", "Further:", "Lastly:"), ("Initially,", "Subsequently,", "In closing,")),
}
"""Words before the first step, those between, and the last."""


class ArticleParts(NamedTuple):
    """What an article says, before it is laid out."""

    symptom: str
    cause: str
    scope: str
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    """Sentences beside the procedure, in any order."""


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


PLAIN = {"command": "run {0} {1} {2}", "setting": "set {0} to {1} {2}", "group": "join {0}"}
"""A fact in as few words as will do."""


def plain_instructions(facts: Sequence[Fact]) -> str:
    """Facts in as few words as will do, in order."""
    return "; ".join([PLAIN[fact.kind].format(*fact.words) for fact in facts]) + "."


class Prose:
    """One writer's way of putting things: phrases of one split, one style of quotes."""

    def __init__(self, rng: Random, split: Split) -> None:
        self.rng, self.split = rng, split
        self.quote = rng.choice(QUOTES)

    def say(self, wordings: Phrases, *words: str) -> str:
        """One of the wordings with its words."""
        return self.rng.choice(wordings[self.split]).format(*words)

    def step(self, fact: Fact) -> str:
        """A fact as something to do, with no capital and no full stop."""
        texts = {"command": phrases.COMMAND, "setting": phrases.SETTING, "group": phrases.GROUP}[fact.kind]
        return self._fact(texts, fact)

    def done(self, fact: Fact) -> str:
        """A fact as something that was done."""
        return self._fact(phrases.DONE[fact.kind], fact)

    def _fact(self, wordings: Phrases, fact: Fact) -> str:
        words = [*fact.words]
        if fact.kind == "command":  # typed in one go, so quoted in one go
            begin, end = self.quote.split("{}")
            words = [begin + words[0], *words[1:-1], words[-1] + end]
        else:
            words[0] = self.quote.format(words[0])
        return self.say(wordings, *words)

    def condition(self, condition: Precondition) -> str:
        """For whom an article holds; empty for everybody."""
        parts = []
        if condition.below:
            parts.append(self.say(phrases.BELOW, release(condition.below)))
        if condition.since:
            parts.append(self.say(phrases.SINCE, release(condition.since)))
        if condition.hardware:
            parts.append(self.say(phrases.HARDWARE, condition.hardware))
        if condition.site:
            parts.append(self.say(phrases.SITE, condition.site))
        return self.say(phrases.APPLIES, " ".join(parts)) if parts else ""

    # -- documents ------------------------------------------------------------------------------------

    def article(self, parts: ArticleParts) -> str:
        """The body of an article, laid out in one of the split's ways."""
        layouts = (_sections, _story, _bullets) if self.split is not Split.TEST else (_questions, _letter)
        return self.rng.choice(layouts)(self, parts)

    def sequence(self, steps: Sequence[str]) -> str:
        """Steps as running text, in order."""
        order = self.rng.choice(ORDER[self.split])
        words = [order[0], *[order[1]] * (len(steps) - 2), order[-1]] if len(steps) > 1 else [""]
        return " ".join([f"{word} {step}.".strip() for word, step in zip(words, steps, strict=True)])

    def closed(self, parts: ArticleParts) -> str:
        """The body of a closed ticket or an incident, told in the past tense."""
        begin = "Reported:" if self.split is not Split.TEST else "Observed:"
        return " ".join(
            [f"{begin} {parts.symptom}.", parts.cause, parts.scope, self.sequence(parts.steps), *parts.notes]
        )

    def ticket(self, plain: str, product: str, has: Configuration, topic: str, chatter: int) -> str:
        """What a person writes: the symptom, the product, and what they happen to say, in any order."""
        rng = self.rng
        sentences = [
            self.say(phrases.RELEASE, release(has.version)),
            *([self.say(phrases.BOX, has.hardware)] if has.hardware else []),
            *([self.say(phrases.PLACE, has.site)] if has.site else []),
            *([capital(topic) + "."] if topic else []),
            *[
                text.format(n=rng.randrange(1000, 9999))
                for text in rng.sample(phrases.CHATTER[self.split], min(chatter, len(phrases.CHATTER[self.split])))
            ],
        ]
        rng.shuffle(sentences)
        return " ".join([capital(self.say(phrases.OPENING, plain, product)), *sentences])


def _sections(prose: Prose, parts: ArticleParts) -> str:
    steps = "\n".join([f"{k}. {capital(step)}." for k, step in enumerate(parts.steps, 1)])
    return "\n".join([
        f"Symptom: {parts.symptom}.", parts.cause, parts.scope, *(["Steps:", steps] if steps else []), *parts.notes,
    ])  # fmt: skip


def _story(prose: Prose, parts: ArticleParts) -> str:
    steps = prose.sequence(parts.steps) if parts.steps else ""
    notes = list(parts.notes)
    prose.rng.shuffle(notes)
    return " ".join([f"This note is about {parts.symptom}.", *notes[:1], parts.cause, steps, parts.scope, *notes[1:]])


def _bullets(prose: Prose, parts: ArticleParts) -> str:
    lines = [parts.scope, parts.cause, *[capital(step) + "." for step in parts.steps], *parts.notes]
    return "\n".join([f"- {line}" for line in lines if line])


def _questions(prose: Prose, parts: ArticleParts) -> str:
    steps = prose.sequence(parts.steps) if parts.steps else "See below."
    return "\n".join([
        f"What is seen? {capital(parts.symptom)}.", f"For whom? {parts.scope}", f"Why? {parts.cause}",
        f"What helps? {steps}", *parts.notes,
    ])  # fmt: skip


def _letter(prose: Prose, parts: ArticleParts) -> str:
    steps = prose.sequence(parts.steps) if parts.steps else ""
    return " ".join(["Colleagues,", *parts.notes[:1], parts.cause, parts.scope, steps, *parts.notes[1:], "Regards"])
