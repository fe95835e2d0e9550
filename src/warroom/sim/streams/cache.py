"""What a cache writes: hits, misses, evictions, snapshots, its reads from the store behind it."""

from warroom.core.splits import Split
from warroom.sim.streams.template import KindTemplates, Template

CACHE: dict[Split, KindTemplates] = {
    Split.TRAIN: KindTemplates(
        {"space": ("hot", "warm", "pinned"), "slot": ("0-4095", "4096-8191", "8192-12287", "12288-16383")},
        (
            Template("served", "INFO", 0.3, "get from {space}: {n} keys, {ms} ms"),
            Template("served", "INFO", 0.1, "set in {space}, {kb} kB"),
            Template("served", "INFO", 0.1, "pipeline of {n} commands on slots {slot}"),
            Template("failed", "ERROR", 1.0, "command on slots {slot} answered with an error"),
            Template("failed", "ERROR", 1.0, "get from {space} failed after {ms} ms, client told"),
            Template("failed", "ERROR", 1.0, "could not serve a read of {space}, nothing returned"),
            Template("slow", "WARN", 1.0, "slow log: command on slots {slot} took {ms} ms"),
            Template("slow", "WARN", 1.0, "output for a client that has left, {ms} ms after its command"),
            Template("refused", "WARN", 1.0, "read-through: {callee} returned an error, key not filled"),
            Template("refused", "WARN", 1.0, "read-through: value from {callee} not accepted"),
            Template("late", "WARN", 1.0, "read-through: {callee} took more than {ms} ms, key not filled"),
            Template("late", "WARN", 1.0, "loader for {space} cancelled a read of {callee} at {ms} ms"),
            Template("lost", "WARN", 1.0, "read-through: no connection to {callee}"),
            Template("lost", "WARN", 1.0, "loader for {space}: {callee} closed the connection unasked"),
            Template("chore", "INFO", 1.0, "{n} expired keys removed from {space}"),
            Template("chore", "INFO", 0.3, "background save finished, {kb} kB copied"),
            Template("chore", "INFO", 0.5, "cluster state ok, epoch {seq}"),
            Template("chore", "INFO", 1.0, "memory: {n} MB in {space}, fragmentation {pct} %"),
            Template("stray", "WARN", 0.001, "value in {space} is larger than recommended"),
            Template("stray", "WARN", 0.001, "client uses a command that will go away"),
            Template("stray", "ERROR", 0.002, "replica asked for offset {seq} again, partial sync repeated"),
        ),
    ),
    Split.TEST: KindTemplates(
        {"space": ("near", "shared", "static"), "slot": ("shard-a", "shard-b", "shard-c", "shard-d")},
        (
            Template("served", "INFO", 0.3, "{slot} GET x{n} in {ms}ms"),
            Template("served", "INFO", 0.1, "{slot} PUT region {space}, {kb}k"),
            Template("served", "INFO", 0.1, "{slot} batch of {n} answered"),
            Template("failed", "ERROR", 1.0, "{slot} reply ERR to client"),
            Template("failed", "ERROR", 1.0, "{slot} GET on region {space} not answered, {ms}ms"),
            Template("failed", "ERROR", 1.0, "region {space}: read ended in error"),
            Template("slow", "WARN", 1.0, "{slot} stalled {ms}ms on one command"),
            Template("slow", "WARN", 1.0, "region {space}: answer ready at {ms}ms, socket gone"),
            Template("refused", "WARN", 1.0, "fill from {callee} refused, entry stays empty"),
            Template("refused", "WARN", 1.0, "fill from {callee}: payload failed its check"),
            Template("late", "WARN", 1.0, "fill from {callee} overdue at {ms}ms"),
            Template("late", "WARN", 1.0, "region {space}: stopped waiting for {callee}, {ms}ms"),
            Template("lost", "WARN", 1.0, "fill from {callee}: cannot reach it"),
            Template("lost", "WARN", 1.0, "region {space}: link to {callee} broke while connecting"),
            Template("chore", "INFO", 1.0, "sweeper: {n} entries of region {space} timed out"),
            Template("chore", "INFO", 0.3, "snapshot of {slot} written, {kb}k"),
            Template("chore", "INFO", 0.5, "gossip: all members seen, view {seq}"),
            Template("chore", "INFO", 1.0, "region {space}: {n} MB, {pct} % overhead"),
            Template("stray", "WARN", 0.001, "entry in region {space} above the advised size"),
            Template("stray", "WARN", 0.001, "old protocol version spoken by a client"),
            Template("stray", "ERROR", 0.002, "follower lost its place at {seq}, resent"),
        ),
    ),
}
