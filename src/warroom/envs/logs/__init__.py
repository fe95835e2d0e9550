"""An agent on call reads the logs of a microservice system and triages cascading, silent and misleading failures."""

from warroom.core.language import Plain
from warroom.core.scenario import Environment
from warroom.envs.logs.env import build
from warroom.envs.logs.oncall import SEATS
from warroom.envs.logs.policies import POLICIES
from warroom.envs.logs.scenario import CORE, FULL, RECORDED
from warroom.envs.logs.shorthand import Shorthand, lexicon

ENVIRONMENT = Environment(
    name="logs",
    summary="An agent on call finds the root behind cascading and silent failures in the logs of a system",
    seats=SEATS,
    suites=(CORE, FULL, RECORDED),
    build=build,
    options={
        "topology": "document (the default seven services), drawn (5 to 12), drawn:N (N from 5 to 40), or the JSON "
        "text of an imported topology",
        "wording": "the split whose phrases are used (default: the seed's own)",
        "names": "the split whose service names a drawn topology uses (default: the seed's own)",
        "recording": "the folder of recorded incidents that the suite `recorded` plays",
    },
    policies=POLICIES,
    languages={"plain": Plain, "shorthand": Shorthand},
    lexicon=lexicon,
)
