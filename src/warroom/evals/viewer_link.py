"""How a report mentions the viewer: as a link where one lies beside it, else by the command that writes one."""

from pathlib import Path

from warroom.runs import REPORT, VIEWER, write_text

VIEWER_DESCRIPTION = "every episode, what each seat saw and what was true"
VIEWER_MENTION = {
    False: f"<code>warroom view RUN</code> writes a page beside this one: {VIEWER_DESCRIPTION}",
    True: f'<a href="{VIEWER}">{VIEWER}</a> beside this page: {VIEWER_DESCRIPTION}',
}
"""By whether there is a viewer. Texts of a run are escaped in a report, so none of them is ever one of these."""


def link_viewer(folder: Path) -> None:
    """Let the folder's report link the viewer that was just written, if there is a report."""
    report = folder / REPORT
    if report.is_file():
        text = report.read_text(encoding="utf-8")
        linked = text.replace(VIEWER_MENTION[False], VIEWER_MENTION[True])
        if linked != text:
            write_text(report, linked)
