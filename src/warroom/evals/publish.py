"""From a finished run folder to its summary, pictures and report."""

from pathlib import Path

from warroom.core.strict_json import contents_of, read_json_object
from warroom.episode import Episode
from warroom.evals.confidence import confidence_pairs, plot_confidence
from warroom.evals.crossplay import TABLE, crossplay_csv, crossplay_rows, draw_crossplay, teams_of
from warroom.evals.kinds import RogueEpisode, catches_by_kind, rogue_episode
from warroom.evals.metrics import Result, result_of
from warroom.evals.plots import draw_all, draw_roc
from warroom.evals.report import inspected_policies, report_page, worst_of
from warroom.evals.run_summary import summarise_run, write_summary
from warroom.evals.summary import Row
from warroom.runs import REMEDY, REPORT, ROC, VIEWER, read_episodes, read_record, write_text


def publish(folder: Path, baseline: str | None = None) -> Row:
    """Write `summary.json`, the pictures and `report.html` of a whole run and return the summary.

    `baseline` defaults to the run's own. A `ValueError` says what is missing from a run that is not whole.
    """
    record, retry_hint = read_record(folder), f"finished episodes stay: {REMEDY}, then: warroom report {folder}"
    results, worst, rogues = _read(folder, inspected_policies(record.policies))
    summary = summarise_run(folder, record, results, baseline)
    summary["kinds"] = catches_by_kind(rogues, record.policies)
    teams = teams_of(summary["env"], record.policies)
    exchanged = crossplay_rows(results, summary["env"], teams) if teams else []
    summary["exchanges"] = [row.to_json() for row in exchanged]
    write_summary(folder, summary, retry_hint)
    pictures, roc = draw_all(summary, folder), read_roc(folder)
    if roc is not None:
        with contents_of(folder / ROC):
            pictures.append(draw_roc(roc, folder))
    pairs = confidence_pairs(results)
    if pairs:
        pictures.append(plot_confidence(pairs, folder))
    if exchanged:
        write_text(folder / TABLE, crossplay_csv(exchanged), retry_hint)
        pictures.append(draw_crossplay(exchanged, folder))
    page = report_page(record, summary, pictures, worst, roc=roc, pairs=pairs, viewer=(folder / VIEWER).is_file())
    write_text(folder / REPORT, page, retry_hint)
    return summary


def read_roc(folder: Path) -> Row | None:
    """What `warroom eval --roc` left in the folder, if it was asked for."""
    path = folder / ROC
    return read_json_object(path) if path.is_file() else None


def _read(folder: Path, policy: str) -> tuple[list[Result], list[Episode], list[RogueEpisode]]:
    """All results, the worst episodes of one policy, and what had a rogue; one pass, so that no run has to fit into
    memory whole."""
    results, worst, rogues = list[Result](), list[Episode](), list[RogueEpisode]()
    for episode in read_episodes(folder):
        results.append(result_of(episode))
        rogues += filter(None, [rogue_episode(episode)])
        if episode.policy == policy:
            worst = worst_of([*worst, episode])
    return results, worst, rogues
