"""Inline SVG out of matplotlib: the same bytes every time, colours that follow the page."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import (
    AutoLocator,
    FixedLocator,
    Formatter,
    LogFormatterMathtext,
    LogFormatterSciNotation,
    MaxNLocator,
    NullLocator,
)

from sciprec.drawing.picture import WIDTH
from sciprec.foundation.errors import printable

INK = "#010203"  # stands for the page's own text colour and becomes `currentColor`
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe & Ito (2008)
DASHES = ("-", "--", ":", "-.")
LEGEND_WIDTH, LEGEND_HANDLE, LEGEND_LETTER, LEGEND_ROW = 6.0, 0.55, 0.066, 0.19
"""Inches: width of a legend, so that a phone shows all of it; of a handle, a letter, a row."""
MOST_INTERVALS = 5
"""Between the ticks of a linear axis."""
DECADE_TICKS = ((5.0, (1, 2, 3, 5)), (15.0, (1, 2, 5)), (100.0, (1, 3)))
"""Ratio of the ends of a logarithmic axis below which its ticks are at these multiples of powers
of ten, so that labels have room in a third of a page."""
LEAST_TICKS = 2
"""Of a logarithmic axis; one with fewer has those of a linear axis."""
FEW_INTERVALS = 3
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

_STYLE = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.13,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "image.interpolation": "nearest",
}


@contextmanager
def drawn(name: str, height: float, width: float = WIDTH) -> Iterator[Figure]:
    """An empty figure in inches; without any display it is drawn and saved in this context.

    Args:
        name: unique on the page; prefixes every identifier.
        height, width: in inches.
    """
    with rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), layout="constrained", label=name)
        FigureCanvasSVG(figure)
        yield figure


def line_style(index: int) -> dict[str, object]:
    """Colour and marker of the arithmetic at this place of the batch's list."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def label_style(label: str, order: Sequence[str]) -> dict[str, object]:
    """The look of a run: colour and marker of its arithmetic, dashes of its compensation.

    Where there are more arithmetics than colours, those that share one differ in their dashes.

    Args:
        label: "mlu370", "mlu370+carry".
        order: all labels of the batch.
    """
    parts = [run_label.partition("+")[::2] for run_label in order]
    arithmetics, compensations = (
        list(dict.fromkeys(column)) for column in zip(*parts, strict=True)
    )
    arithmetic, _, compensation = label.partition("+")
    place = arithmetics.index(arithmetic)
    dashes = DASHES[(compensations.index(compensation) + place // len(COLOURS)) % len(DASHES)]
    hollow = {"markerfacecolor": "none"} if compensation else {}
    return line_style(place) | {"linestyle": dashes} | hollow


def drawable(values: Sequence[float | None]) -> np.ndarray:
    """Numbers on a logarithmic axis; nothing where there is none above zero."""
    numbers = np.array([np.nan if v is None else v for v in values], float)
    return np.where(numbers > 0.0, numbers, np.nan)


def legend(figure: Figure, labels: Sequence[str] | None = None) -> None:
    """One legend for all panels, above them at the left, where narrow screens begin.

    Args:
        figure: its panels have been drawn.
        labels: in the order to show them; left out, that of the panels.
    """
    handles = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    shown = [text for text in labels or handles if text in handles]
    widest = LEGEND_HANDLE + LEGEND_LETTER * max(map(len, shown), default=0)
    columns = max(1, int(LEGEND_WIDTH / widest))
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(shown) // columns))
    figure.legend(
        [handles[text] for text in shown], shown, loc="outside upper left",
        ncols=columns, handlelength=1.8, columnspacing=1.4,
    )  # fmt: skip


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class PlainPowers(Formatter):
    """Labels of a logarithmic axis as plain text, 2×10⁻³, as other labels are.

    Matplotlib's own are formulas: each digit has its place, in a font that a reader may not have,
    and parsing them is a quarter of a page's time.

    Args:
        formula: the axis' formatter.
    """

    def __init__(self, formula: LogFormatterMathtext):
        self.formula = formula

    def __call__(self, x, pos=None):
        text = re.sub(r"\$\\mathdefault\{(.*)\}\$", r"\1", self.formula(x, pos))
        text = re.sub(r"\^\{(.*)\}", lambda power: power.group(1).translate(_RAISED), text)
        return self.fix_minus(text.replace(r"\times", "×"))

    def set_locs(self, locs):
        self.formula.set_locs(locs)


def _thin_out(figure: Figure) -> None:
    """Give each axis few ticks, and plain labels: ticks are what takes longest to draw, and a phone
    has no room for many. Where an axis shows few powers of ten, there are ticks between them.
    """
    for axis in (side for axes in figure.axes for side in (axes.xaxis, axes.yaxis)):
        if type(axis.get_major_locator()) is AutoLocator:
            axis.get_major_locator().set_params(nbins=MOST_INTERVALS)
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            if (places := _between_powers(*sorted(axis.get_view_interval()))) is not None:
                few = len(places) < LEAST_TICKS
                axis.set_major_locator(MaxNLocator(FEW_INTERVALS) if few else FixedLocator(places))
            every = LogFormatterSciNotation(minor_thresholds=(math.inf, math.inf))
            axis.set_major_formatter(PlainPowers(every))
            axis.set_minor_locator(NullLocator())


def _between_powers(low: float, high: float) -> np.ndarray | None:
    """Places of ticks on a logarithmic axis with few powers of ten; None where it has enough."""
    ratio = high / low if low > 0.0 else math.inf
    multiples = next((subs for most, subs in DECADE_TICKS if ratio < most), None)
    if multiples is None:
        return None
    powers = 10.0 ** np.arange(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = np.outer(powers, multiples).ravel()
    return places[(places >= low) & (places <= high)]


def to_svg(figure: Figure, description: str) -> str:
    """The figure as one <svg> element that can stand inside a page.

    Args:
        figure: that of `drawn`, inside whose context this is called.
        description: what is seen, for readers who do not see it.
    """
    name = figure.get_label()
    buffer = io.StringIO()
    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    _thin_out(figure)
    for words in figure.findobj(Text):
        words.set_text(printable(words.get_text()))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's reader has other fonts
        # drawn once: `savefig` would draw all of it before, only to find room for the labels
        figure.canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = text.replace(INK, "currentColor").replace("sans-serif", "inherit")
    head, rest = text.split(">", 1)
    view = re.search(r'viewBox="[^"]+"', head).group(0)
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    opening = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return printable(f'{opening} {view} role="img" aria-label="{label}">{rest}')
