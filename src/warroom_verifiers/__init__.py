"""The name under which verifiers finds Warroom's environment: `vf-eval warroom-verifiers`."""

from warroom.integrations.verifiers import IncidentsTaskset, TeamEnv

__all__ = ["IncidentsTaskset", "TeamEnv"]
