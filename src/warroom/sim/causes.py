"""What each scenario is named after: the change that hits, or the failure that nature brings.

The ten scenarios with a change have one `CandidateRole` each, and every role is the cause of exactly one scenario.
Clusters are drawn such that over the full suite every role in a cluster is equally likely to be the hit
(`clusters.py`), so that knowing this table does not help.
"""

from typing import NamedTuple

from warroom.sim.families import FAMILIES
from warroom.sim.family import ARENAS, Arena, Mechanism


class CandidateRole(NamedTuple):
    """A family of changes, by agents or by colleagues."""

    family: str
    by_colleague: bool = False

    def arenas(self) -> tuple[Arena, ...]:
        """Where such changes strike."""
        family = FAMILIES[self.family]
        return family.by_colleagues if self.by_colleague else family.by_agents


class Nature(NamedTuple):
    """A failure that no change causes."""

    mechanism: Mechanism
    arenas: tuple[Arena, ...]


class Variation(NamedTuple):
    """Any failure of nature, and something beside it."""

    loop: bool = False
    """An agent makes one routine change again and again."""
    harm_elsewhere: bool = False
    """An agent's change does harm at another service."""


Cause = CandidateRole | Nature | Variation
_SERVICE: tuple[Arena, ...] = ("service errors", "service late")
_STORE: tuple[Arena, ...] = ("store errors",)

CAUSES: dict[str, Cause] = {
    "autoscaler_cost_cut": CandidateRole("scale"),
    "backup_at_peak": CandidateRole("backup"),
    "bad_config_push": CandidateRole("config", by_colleague=True),
    "buggy_agent": Variation(loop=True),
    "cache_janitor_flush": CandidateRole("evict"),
    "cascade": Nature("retry_storm", _STORE),
    "certificate_expired": Nature("certificate", ("service errors", "store errors")),
    "certificate_misissue": CandidateRole("rotate"),
    "connection_leak": Nature("connections", _SERVICE),
    "db_deadlock": Nature("locks", _STORE),
    "disk_full": Nature("disk_space", _STORE),
    "dns_outage": Nature("name_resolution", ("service errors",)),
    "feature_flag_flood": CandidateRole("toggle"),
    "innocent_suspect": Variation(),
    "memory_leak": Nature("memory", _SERVICE),
    "misrouted_traffic": CandidateRole("route"),
    "network_delay": Nature("link_latency", ("service late",)),
    "no_incident": Nature("transient", ARENAS),
    "noisy_neighbour": Nature("contention", _SERVICE),
    "rate_limit_clamp": CandidateRole("limit"),
    "rogue_bystander": Variation(harm_elsewhere=True),
    "rogue_deploy_bot": CandidateRole("deploy"),
    "slow_release": CandidateRole("deploy", by_colleague=True),
    "traffic_surge": Nature("capacity", _SERVICE),
}

ROLES: tuple[CandidateRole, ...] = tuple([cause for cause in CAUSES.values() if isinstance(cause, CandidateRole)])
NATURAL: tuple[Nature, ...] = tuple(
    [cause for cause in CAUSES.values() if isinstance(cause, Nature) and cause.mechanism != "transient"]
)
"""What the variations draw from."""
