"""What a message broker writes: publishes, deliveries, segments, consumer groups."""

from warroom.core.splits import Split
from warroom.sim.streams.template import KindTemplates, Template

QUEUE: dict[Split, KindTemplates] = {
    Split.TRAIN: KindTemplates(
        {
            "topic": ("jobs.main", "jobs.retry", "notices", "exports", "changes"),
            "group": ("workers", "indexer", "mailer", "archive"),
        },
        (
            Template("served", "INFO", 0.5, "published to {topic}, offset {seq}, {kb} kB"),
            Template("served", "INFO", 0.3, "delivered {n} messages of {topic} to {group}"),
            Template("served", "INFO", 0.1, "acknowledged up to {seq} by {group}"),
            Template("failed", "ERROR", 1.0, "publish to {topic} not confirmed, producer told"),
            Template("failed", "ERROR", 1.0, "append to {topic} failed after {ms} ms"),
            Template("failed", "ERROR", 1.0, "request of {group} on {topic} ended with an error"),
            Template("slow", "WARN", 1.0, "confirm for {topic} took {ms} ms"),
            Template("slow", "WARN", 1.0, "producer to {topic} gave up before its confirm, {ms} ms"),
            Template("refused", "WARN", 1.0, "bridge to {callee}: message not taken"),
            Template("refused", "WARN", 1.0, "bridge to {callee}: receipt not valid"),
            Template("late", "WARN", 1.0, "bridge to {callee}: no receipt within {ms} ms"),
            Template("late", "WARN", 1.0, "bridge to {callee} withdrew a message after {ms} ms"),
            Template("lost", "WARN", 1.0, "bridge to {callee} is not connected"),
            Template("lost", "WARN", 1.0, "bridge to {callee}: closed before the handover"),
            Template("chore", "INFO", 0.5, "segment {seq} of {topic} rolled, {kb} kB"),
            Template("chore", "INFO", 0.5, "retention of {topic}: {n} segments deleted"),
            Template("chore", "INFO", 1.0, "group {group} stable, {n} members"),
            Template("chore", "INFO", 0.3, "leader epoch of {topic} is {seq}"),
            Template("stray", "WARN", 0.003, "member of {group} missed one heartbeat"),
            Template("stray", "WARN", 0.002, "message on {topic} carries an unknown header"),
            Template("stray", "ERROR", 0.005, "offset commit of {group} repeated, generation {seq} was old"),
        ),
    ),
    Split.TEST: KindTemplates(
        {
            "topic": ("q/tasks", "q/again", "q/alerts", "q/dump", "q/delta"),
            "group": ("pool-a", "pool-b", "pool-c", "pool-d"),
        },
        (
            Template("served", "INFO", 0.5, "enqueue {topic} id={seq} size={kb}k"),
            Template("served", "INFO", 0.3, "dequeue {topic} x{n} by {group}"),
            Template("served", "INFO", 0.1, "{group} settled id={seq}"),
            Template("failed", "ERROR", 1.0, "enqueue {topic} turned back to sender"),
            Template("failed", "ERROR", 1.0, "{topic}: write did not complete, {ms}ms"),
            Template("failed", "ERROR", 1.0, "{group} got an error instead of items from {topic}"),
            Template("slow", "WARN", 1.0, "enqueue {topic} settled only at {ms}ms"),
            Template("slow", "WARN", 1.0, "sender to {topic} left after {ms}ms without its receipt"),
            Template("refused", "WARN", 1.0, "relay {callee}: item handed back"),
            Template("refused", "WARN", 1.0, "relay {callee}: receipt did not match"),
            Template("late", "WARN", 1.0, "relay {callee}: receipt overdue, {ms}ms"),
            Template("late", "WARN", 1.0, "relay {callee}: pulled the item back at {ms}ms"),
            Template("lost", "WARN", 1.0, "relay {callee}: not reachable"),
            Template("lost", "WARN", 1.0, "relay {callee}: hung up during the greeting"),
            Template("chore", "INFO", 0.5, "{topic}: log file {seq} closed at {kb}k"),
            Template("chore", "INFO", 0.5, "{topic}: {n} settled files removed"),
            Template("chore", "INFO", 1.0, "{group}: {n} workers attached"),
            Template("chore", "INFO", 0.3, "{topic}: owner unchanged, term {seq}"),
            Template("stray", "WARN", 0.003, "{group}: one worker was quiet for a while"),
            Template("stray", "WARN", 0.002, "{topic}: item with an unknown tag"),
            Template("stray", "ERROR", 0.005, "{group}: settle of id={seq} came twice, second one dropped"),
        ),
    ),
}
