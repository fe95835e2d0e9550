"""One fault was active in a real system while its logs, traces and metrics were recorded.

Which recordings are played is said by the option `recording`; the seed picks the incident.
"""

from warroom.envs.logs.recorded import RecordedScenario

SCENARIO = RecordedScenario(
    "recorded", "One fault was active in a real system while its logs, traces and metrics were recorded."
)
