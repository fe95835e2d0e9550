"""`warroom bench`."""

from collections.abc import Mapping
from typing import Annotated

import typer

from warroom.cli.flags import env_options, with_env_options
from warroom.cli.options import Json, Tier
from warroom.cli.output import print_json
from warroom.evals.bench import COMPONENTS, BenchmarkConfig, run_bench


@with_env_options
def bench_command(
    *,
    given: Mapping[str, object],
    env: Annotated[str, typer.Option(help="Environment.")] = "fleet",
    tier: Tier = "hard",
    seconds: Annotated[float, typer.Option(help="Seconds per measurement.")] = 3.0,
    policy: Annotated[str, typer.Option(help="Policy that plays; the default waits for ten turns.")] = "noop",
    json: Json = False,
) -> None:
    """Measure episodes per second of processor time on one core, and where the time goes.

    Example: warroom bench --tier easy --seconds 10
    """
    options = env_options(env, given).to_json()
    found = run_bench(BenchmarkConfig(env, tier, policy, options), seconds)
    if json:
        print_json(found)
        return
    length = f"{found['turns']} turns an episode" if found["turns"] else "to the end"
    print(f"{env}, {tier}, played by {policy}, {length}, one core, Python {found['python']}")
    for title, name in (("text of the acting seat", "acting_seat"), ("text of every seat", "all_seats")):
        if found[name] is None:
            print(f"  {title}: this environment cannot show every seat at any time")
            continue
        arm = found[name]
        split = ", ".join(f"{part} {arm[part + '_ms']:.2f} ms" for part in COMPONENTS)
        print(f"  {title}: {arm['episodes_per_second']:.0f} episodes a second ({split})")
    print(f"  import of the episode loop and every scenario: {found['import_seconds']:.3f} s")
