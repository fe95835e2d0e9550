"""What a database writes: statements, checkpoints, replication, connections."""

from warroom.core.splits import Split
from warroom.sim.streams.template import KindTemplates, Template

DB: dict[Split, KindTemplates] = {
    Split.TRAIN: KindTemplates(
        {
            "table": ("entries", "accounts", "versions", "totals", "links", "events"),
            "statement": ("select_by_key", "select_range", "upsert_row", "count_group"),
        },
        (
            Template("served", "INFO", 1.0, "statement {statement} on {table}: {n} rows, {ms} ms"),
            Template("served", "INFO", 0.4, "commit of transaction {seq}, {kb} kB of log"),
            Template("served", "INFO", 0.1, "plan for {statement} taken from cache"),
            Template("failed", "ERROR", 1.0, "statement {statement} on {table} ended with an error, rolled back"),
            Template("failed", "ERROR", 1.0, "could not execute {statement}: session ended by server after {ms} ms"),
            Template("failed", "ERROR", 1.0, "transaction {seq} aborted, last statement {statement}"),
            Template("slow", "WARN", 1.0, "duration {ms} ms: {statement} on {table}"),
            Template("slow", "WARN", 1.0, "client closed its session while {statement} was running, {ms} ms"),
            Template("refused", "WARN", 1.0, "foreign server {callee} returned an error, scan stopped"),
            Template("refused", "WARN", 1.0, "rows of foreign server {callee} not usable, scan of {table} stopped"),
            Template("late", "WARN", 1.0, "foreign server {callee} did not answer within {ms} ms"),
            Template("late", "WARN", 1.0, "fetch from foreign server {callee} cancelled at {ms} ms"),
            Template("lost", "WARN", 1.0, "could not connect to foreign server {callee}"),
            Template("lost", "WARN", 1.0, "connection to foreign server {callee} closed before the first row"),
            Template("chore", "INFO", 0.5, "checkpoint complete, {n} buffers, {kb} kB"),
            Template("chore", "INFO", 0.5, "automatic vacuum of {table}: {n} pages removed"),
            Template("chore", "INFO", 1.0, "write-ahead segment {seq} archived"),
            Template("chore", "INFO", 0.5, "statistics of {table} refreshed"),
            Template("stray", "WARN", 0.002, "unused index on {table} has not been read for {n} days"),
            Template("stray", "WARN", 0.002, "there is no transaction in progress, session {seq}"),
            Template("stray", "ERROR", 0.004, "archive command repeated, segment {seq} was taken at the second try"),
        ),
    ),
    Split.TEST: KindTemplates(
        {
            "table": ("t_item", "t_owner", "t_state", "t_sum", "t_relation", "t_history"),
            "statement": ("q_point", "q_scan", "q_merge", "q_rollup"),
        },
        (
            Template("served", "INFO", 1.0, "[exec] {statement} rel={table} rows={n} t={ms}ms"),
            Template("served", "INFO", 0.4, "[txn {seq}] committed, redo {kb}k"),
            Template("served", "INFO", 0.1, "[plan] {statement} reused"),
            Template("failed", "ERROR", 1.0, "[exec] {statement} rel={table} failed, undone"),
            Template("failed", "ERROR", 1.0, "[txn {seq}] rolled back by server during {statement}"),
            Template("failed", "ERROR", 1.0, "[session {seq}] ended: {statement} was not executed ({ms} ms)"),
            Template("slow", "WARN", 1.0, "[slow] {statement} rel={table} t={ms}ms"),
            Template("slow", "WARN", 1.0, "[session {seq}] peer gone while {statement} ran, t={ms}ms"),
            Template("refused", "WARN", 1.0, "[link {callee}] remote side reported a failure"),
            Template("refused", "WARN", 1.0, "[link {callee}] remote rows rejected, {table} not joined"),
            Template("late", "WARN", 1.0, "[link {callee}] silent for {ms} ms, dropped"),
            Template("late", "WARN", 1.0, "[link {callee}] fetch interrupted at {ms} ms"),
            Template("lost", "WARN", 1.0, "[link {callee}] login did not go through"),
            Template("lost", "WARN", 1.0, "[link {callee}] closed by the other side before the fetch"),
            Template("chore", "INFO", 0.5, "[flush] {n} dirty pages written, {kb}k"),
            Template("chore", "INFO", 0.5, "[purge] {table}: {n} old row versions dropped"),
            Template("chore", "INFO", 1.0, "[redo] file {seq} closed and shipped"),
            Template("chore", "INFO", 0.5, "[stats] histogram of {table} rebuilt"),
            Template("stray", "WARN", 0.002, "[schema] {table} has a column without default"),
            Template("stray", "WARN", 0.002, "[session {seq}] commit without begin"),
            Template("stray", "ERROR", 0.004, "[redo] shipping of file {seq} failed once, repeated"),
        ),
    ),
}
