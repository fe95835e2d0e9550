"""Manners, orders and labels of texts: tables that `compose` writes by and `reading` reads by."""

from collections.abc import Mapping
from typing import NamedTuple


class Manner(NamedTuple):
    """How one kind of person writes. Numbers are chances out of eight."""

    greets: int
    pleads: int
    grumbles: int
    """Says something that has nothing to do with it."""
    joins: int
    """Puts two things into one sentence where there is a frame for both."""
    stops: bool
    """Ends sentences by a stop even where each has a line of its own."""
    capitals: bool
    signs: str
    """`closing`, a line below; `signed`, a sentence of its own."""


MANNERS = (
    Manner(8, 7, 1, 3, True, True, "closing"),  # polite
    Manner(1, 1, 0, 6, True, True, "signed"),  # brisk
    Manner(4, 2, 6, 2, True, True, "closing"),  # talkative
    Manner(2, 5, 2, 4, False, False, "signed"),  # careless
    Manner(6, 6, 3, 0, True, True, "signed"),  # plain
    Manner(0, 3, 4, 5, False, True, "closing"),  # hurried
    Manner(7, 3, 2, 6, True, True, "closing"),  # wordy
    Manner(3, 8, 5, 1, False, False, "closing"),  # worried
)
_ASSET = ("asset_product", "asset_own", "asset_nickname", "asset_tag", "version", "version_day")
_PERSON = ("remark_department", "remark_manager", "remark_today", "remark_colleague")
_THING = ("remark_bought", "remark_number", "remark_contract")
ORDERS: tuple[tuple[str, ...], ...] = (
    ("complaint", "clue", *_ASSET, "belief", *_THING, *_PERSON),
    (*_PERSON, "complaint", *_ASSET, *_THING, "clue", "belief"),
    ("complaint", *_ASSET, "belief", "clue", *_THING, *_PERSON),
    ("belief", "complaint", "clue", *_PERSON, *_ASSET, *_THING),
    ("complaint", "belief", *_ASSET, *_THING, "clue", *_PERSON),
    (*_PERSON, "complaint", "clue", "belief", *_ASSET, *_THING),
)
"""In which order things are said. The asset follows the complaint, since many of its frames refer back."""
JOINED = ("complaint_and_clue", "asset_tag_and_complaint", "asset_nickname_and_complaint")
"""Two messages in one sentence; the kinds of both stand in the name."""
READ_AS: Mapping[str, str] = {
    "instruction_next": "instruction",
    **{f"form_{kind}": kind for kind in (
        "complaint", "clue", "belief", "asset_tag", "asset_product", "asset_nickname", "asset_own", "version",
    )},
    **dict.fromkeys(("closing", "signed", "form_name", "forwarded"), "author"),
}  # fmt: skip
"""Kinds of frames that say what another kind says, for those who read."""
SILENT = ("greeting", "plea", "mood", "earlier")
"""Kinds that say nothing about the case."""


class ArticleLabels(NamedTuple):
    """What an article calls its parts."""

    about: str
    scope: str
    steps: str
    notes: str
    questions: tuple[str, str, str]
    """What is it, what is to be done, what else: for articles that answer questions."""


ARTICLE_LABELS: Mapping[str, tuple[ArticleLabels, ...]] = {
    "train": (
        ArticleLabels("Symptom", "Applies to", "Steps", "Notes",
                      ("When do I need this?", "What do I do?", "Anything else?")),
        ArticleLabels("Problem", "Scope", "Procedure", "Remarks on use",
                      ("Which case is this?", "How is it solved?", "What should I know besides?")),
    ),
    "dev": (
        ArticleLabels("Signs", "Range", "Actions", "Extras", ("For whom?", "How?", "And?")),
    ),
    "test": (
        ArticleLabels("Observation", "Validity", "Measures", "Supplement",
                      ("Is this the right page?", "Which measures are due?", "Further points?")),
        ArticleLabels("Situation", "Conditions", "Course of action", "Addenda",
                      ("Does this concern me?", "What is expected of the desk?", "Loose ends?")),
    ),
}  # fmt: skip
SPEAKERS: Mapping[str, tuple[str, str, str]] = {
    "train": ("User", "Desk", "Second line"),
    "dev": ("Caller", "Agent on duty", "Expert"),
    "test": ("Customer", "First level", "Specialist"),
}
"""Who writes in a thread: the person, the desk, and whoever the desk asked."""
COMMENT = "Comment"
FIELD_LABELS = (
    *[label for rows in ARTICLE_LABELS.values() for row in rows for label in row[:4]],
    *[speaker for row in SPEAKERS.values() for speaker in row],
    COMMENT,
)
"""Labels that stand before a line and say nothing by themselves."""
