"""A study as files: data (CSV), plot (PNG), and a page (Markdown) that sets ours beside the paper's."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from openfelt.core.files import not_written, write_text
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.studies.study import Curves, Finding, Panel, Study

TITLE_LETTERS = 62  # of a line, for each panel beside each other


def report_name(study: Study, episodes: Sequence[int]) -> str:
    """What its files are called, but for their endings."""
    return study.name if tuple(episodes) == study.episodes else f"{study.name}-quick"


def write_report(study: Study, curves: Curves, folder: Path, made_by: str) -> Path:
    """Write NAME.csv, NAME.png and NAME.md (NAME-quick if it is not the full run); returns the page."""
    is_full = tuple(curves.episodes) == study.episodes
    stem = report_name(study, curves.episodes)
    try:
        write_text(folder / f"{stem}.csv", _csv(study, curves))
        _plot(study, curves, folder / f"{stem}.png")
        write_text(folder / f"{stem}.md", _page(study, curves, stem, is_full, made_by))
    except OSError as error:
        raise not_written(folder, error) from error
    return folder / f"{stem}.md"


def _csv(study: Study, curves: Curves) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    metrics = [panel.metric for panel in study.panels]
    writer.writerow(["learner", "run", "episodes", *metrics])
    for label in _labels(study, curves):
        own = [curves.values[label, metric] for metric in metrics]
        for run in range(_runs(curves)):
            for point, episodes in enumerate(curves.episodes):
                cells = [f"{table[run, point]:.6g}" for table in own]
                writer.writerow([label, run, episodes, *cells])
    return text.getvalue()


def _plot(study: Study, curves: Curves, path: Path) -> None:

    count = len(study.panels)
    columns = count if count <= 3 else 2
    rows = -(-count // columns)
    figure = new_figure(5.2 * columns, 3.9 * rows)
    for place, panel in enumerate(study.panels):
        _draw(figure.add_subplot(rows, columns, place + 1), study, panel, curves)
    runs = _runs(curves)
    spread = f"mean of {runs} runs; shaded: from the least to the most" if runs > 1 else "one run"
    title = textwrap.fill(study.title, TITLE_LETTERS * columns)
    figure.suptitle(f"{title}\n{spread}", fontsize=10)
    save_figure(figure, path)


def _draw(axes: object, study: Study, panel: Panel, curves: Curves) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import LogFormatter, MaxNLocator

    assert isinstance(axes, Axes)
    for colour, label in zip(COLOURS * 2, _labels_of(study, panel, curves), strict=False):
        table = curves.values[label, panel.metric]
        axes.plot(curves.episodes, table.mean(axis=0), color=colour, label=label, linewidth=1.6)
        low, high = table.min(axis=0), table.max(axis=0)
        if panel.logarithmic:
            low = np.maximum(low, 1e-12)
        axes.fill_between(curves.episodes, low, high, color=colour, alpha=0.18, linewidth=0)
    if panel.logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(LogFormatter())
        axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))
    if curves.episodes[-1] >= 1000 * curves.episodes[0]:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("episodes")
    axes.set_ylabel(panel.axis)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)


def _page(study: Study, curves: Curves, stem: str, is_full: bool, made_by: str) -> str:
    notes = []
    if missing := [contender.label for contender in study.contenders if not curves.has(contender)]:
        notes.append(f"Not run yet: {'; '.join(missing)}.")
    if is_full:
        notes.append(study.remarks)
    end = ["## At the end", "", *_table(study, curves), ""]
    end.append(f"{made_by} All measurements: [{stem}.csv]({stem}.csv).")
    title = f"{study.title}{'' if is_full else ' (a quick look, not the full run)'}"
    return page_of(study, title, stem, study.found(curves), notes, end)


class Told(Protocol):
    """What a page says of any study."""

    @property
    def title(self) -> str: ...
    @property
    def paper(self) -> str: ...
    @property
    def setting(self) -> str: ...
    @property
    def own_claims(self) -> bool: ...


def page_of(
    study: Told, title: str, stem: str, findings: Sequence[Finding], notes: Sequence[str], end: Sequence[str]
) -> str:
    """The page: what is done, the picture, findings, notes, and the numbers at the end."""
    lines = [f"# {title}", "", study.paper, "", study.setting, "", f"![{study.title}]({stem}.png)", ""]
    if findings:
        rows = [f"| {each.paper} | {each.ours} | {'yes' if each.holds else '**no**'} |" for each in findings]
        lines += [
            f"| {'claim' if study.own_claims else 'the paper'} | here | holds |",
            "|---|---|---|",
            *rows,
        ]
        lines += ["", _verdict(study, len(findings), sum(each.holds for each in findings)), ""]
    for note in filter(None, notes):
        lines += [note, ""]
    return "\n".join([*lines, *end]) + "\n"


def _verdict(study: Told, count: int, holding: int) -> str:
    what = "What is claimed" if study.own_claims else "The paper's finding"
    if holding == count:
        return f"**{what} holds.**"
    return f"**{what} holds in {holding} of {count} points.**"


def _table(study: Study, curves: Curves) -> list[str]:
    runs = _runs(curves)
    spread = f": the mean of {runs} runs (the least to the most)." if runs > 1 else ", in one run."
    lines = [
        f"After {curves.episodes[-1]:,} episodes{spread}",
        "",
        "| learner | " + " | ".join(panel.axis for panel in study.panels) + " |",
        "|---|" + "---|" * len(study.panels),
    ]
    for label in _labels(study, curves):
        cells = [curves.between(label, panel.metric) for panel in study.panels]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def _labels(study: Study, curves: Curves) -> list[str]:
    return [label for contender in study.contenders if curves.has(contender) for label in contender.labels]


def _labels_of(study: Study, panel: Panel, curves: Curves) -> list[str]:
    """Those that the panel measures; of others it has no numbers."""
    return [
        label for label in _labels(study, curves) if not np.isnan(curves.values[label, panel.metric]).all()
    ]


def _runs(curves: Curves) -> int:
    return len(next(iter(curves.values.values())))
