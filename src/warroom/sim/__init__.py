"""The deterministic microservice world: topology, physics, faults, automation, telemetry."""
