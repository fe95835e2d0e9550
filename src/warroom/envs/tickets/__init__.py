"""A help desk answers tickets from a knowledge base, with citations and honest confidence, or hands them over."""

from warroom.core.renderer import PlainRenderer
from warroom.core.scenario import EnvSpec, TrainingProfile
from warroom.envs.tickets.compact import TicketsCompactRenderer, compact_vocab
from warroom.envs.tickets.env import SEATS, build
from warroom.envs.tickets.policies import POLICIES
from warroom.envs.tickets.scenario import CORE, FULL, IMPORTED

ENVIRONMENT = EnvSpec(
    name="tickets",
    summary="A desk answers a ticket from a knowledge base with citations and calibrated confidence, or hands it over",
    seats=SEATS,
    suites=(CORE, FULL, IMPORTED),
    build=build,
    options={
        "mode": "multi (search, open, submit: the default) or single (the ticket comes with documents; one submission)",
        "quality": "facts (the default), or rouge_l for parity with systems that pay quality by overlap of words",
        "calibration": "multiplies the points of calibration (default 1.0); for training",
        "articles": "size of the knowledge base, 20 to 5000 (default 20, 50 and 100 by tier)",
        "wording": "the split whose phrases are used (default: the seed's own)",
        "kb": "folder of an imported knowledge base; only for imported tickets",
        "judge": "MODEL@URL of a server of chat completions that scores answers: reported as `judged`, never paid",
    },
    policies=POLICIES,
    renderers={"plain": PlainRenderer, "compact": TicketsCompactRenderer},
    compact_vocab=compact_vocab,
    compact_options={"mode": "single"},
    read_only_tools=frozenset(
        {"search_kb", "search_tickets", "search_incidents", "get_article", "get_ticket", "get_incident"}
    ),
    training_profile=TrainingProfile(
        behavior_policies=("heuristic", "paste_top", "always_escalate"),
        job="answer tickets from the documents that come with them, cite them and say how sure it is, or hand over",
        caution="It never reads prose: what a document asks for is compared with the ticket before it sees either. "
        "A person has to check an answer before commands of it are run.",
        held_out_axes="wordings",
    ),
)
