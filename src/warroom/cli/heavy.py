"""The modules that are slow to import or need an optional library, each imported when a command first uses it.

Help, completion and the commands that need none of them stay fast and work without the extras:
`heavy.publish.publish(folder)` imports matplotlib, `from warroom.cli import heavy` imports nothing.
"""

from typing import TYPE_CHECKING

from warroom.core.late import LateModule

if TYPE_CHECKING:
    from warroom.cli import http_server, page
    from warroom.envs.logs import recorded
    from warroom.envs.tickets import imported
    from warroom.envs.tickets import storage as knowledge
    from warroom.evals import compare, crossplay, dev, merge, parquet, power, publish, ray_engine, report, roc, run
    from warroom.evals.audit import bars, certify, gates, search
    from warroom.evals.audit import run as audit
    from warroom.evals.audit import spec as audit_spec
    from warroom.policies import checkpoint
    from warroom.policies.llm import client as llm_client
    from warroom.policies.llm import preflight as llm_preflight
    from warroom.serve import guard, mcp, remote, router, shared_client, shared_server
    from warroom.train import callbacks, grpo, ray_rollouts, runner, warmstart
    from warroom.view.live import serving as live_server
else:
    http_server = LateModule("warroom.cli.http_server", extra="serve")
    page = LateModule("warroom.cli.page", extra="serve")
    recorded = LateModule("warroom.envs.logs.recorded")
    imported = LateModule("warroom.envs.tickets.imported")
    knowledge = LateModule("warroom.envs.tickets.storage")
    bars = LateModule("warroom.evals.audit.bars", extra="plots")
    certify = LateModule("warroom.evals.audit.certify", extra="plots")
    audit = LateModule("warroom.evals.audit.run", extra="plots")
    gates = LateModule("warroom.evals.audit.gates", extra="plots")
    search = LateModule("warroom.evals.audit.search", extra="plots")
    audit_spec = LateModule("warroom.evals.audit.spec", extra="plots")
    compare = LateModule("warroom.evals.compare", extra="plots")
    crossplay = LateModule("warroom.evals.crossplay", extra="plots")
    dev = LateModule("warroom.evals.dev", extra="plots")
    merge = LateModule("warroom.evals.merge")
    parquet = LateModule("warroom.evals.parquet", extra="train")
    power = LateModule("warroom.evals.power", extra="plots")
    publish = LateModule("warroom.evals.publish", extra="plots")
    ray_engine = LateModule("warroom.evals.ray_engine")
    report = LateModule("warroom.evals.report", extra="plots")
    roc = LateModule("warroom.evals.roc", extra="plots")
    run = LateModule("warroom.evals.run")
    checkpoint = LateModule("warroom.policies.checkpoint", extra="train")
    llm_client = LateModule("warroom.policies.llm.client", extra="llm")
    llm_preflight = LateModule("warroom.policies.llm.preflight", extra="llm")
    guard = LateModule("warroom.serve.guard", extra="serve")
    mcp = LateModule("warroom.serve.mcp", extra="serve")
    remote = LateModule("warroom.serve.remote", extra="serve")
    router = LateModule("warroom.serve.router", extra="serve")
    shared_client = LateModule("warroom.serve.shared_client", extra="serve")
    shared_server = LateModule("warroom.serve.shared_server", extra="serve")
    callbacks = LateModule("warroom.train.callbacks", extra="train")
    grpo = LateModule("warroom.train.grpo", extra="train")
    ray_rollouts = LateModule("warroom.train.ray_rollouts")
    runner = LateModule("warroom.train.runner", extra="train")
    warmstart = LateModule("warroom.train.warmstart", extra="train")
    live_server = LateModule("warroom.view.live.serving", extra="serve")
