"""Inline SVG out of matplotlib: the same bytes every time, colours that follow the page.

Room for the labels of a figure's panels is measured once.
"""

from __future__ import annotations

import io
import itertools
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import (
    AutoLocator,
    FixedLocator,
    Formatter,
    LogFormatterMathtext,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullLocator,
)
from matplotlib.transforms import Bbox, ScaledTranslation

from sciprec.drawing.picture import WIDTH
from sciprec.foundation.errors import printable

INK = "#010203"  # stands for the page's own text colour and becomes `currentColor`
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe & Ito (2008)
COLOURED = ("fp64", "fp32", "mlu370", "fp16", "bf16", "tf32")
"""Arithmetics that have the same colour on every page, that of their place here."""
THIN, THICKEST = 1.5, 3.2
"""Points: width of the last of several lines, and of the first, which is seen below the others."""
MOST_MARKERS = 12
"""On a line; those of several lines are at different places, so that none hides another's."""
DASHES = ("-", "--", ":", "-.")
LEGEND_WIDTH, LEGEND_HANDLE, LEGEND_LETTER, LEGEND_ROW = 6.0, 0.55, 0.066, 0.19
"""Inches: width of a legend, so that a phone shows all of it; of a handle, a letter, a row."""
MOST_INTERVALS = 5
"""Between the ticks of a linear axis."""
DECADE_TICKS = ((5.0, (1, 2, 3, 5)), (15.0, (1, 2, 5)), (100.0, (1, 3)))
"""Ratio of the ends of a logarithmic axis below which its ticks are at these multiples of powers
of ten, so that labels have room in a third of a page."""
LEAST_TICKS = 2
"""Fewest ticks of a logarithmic axis; with fewer it gets the ticks of a linear axis."""
FEW_INTERVALS = 3
MAP_DPI = 100
"""Pixels of a map in an inch."""
_NO_METADATA = {"Date": None, "Creator": None}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

_STYLE = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titley": 1.0,
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
POINTS = 72
"""In an inch, and in a figure the unit of places and sizes."""
EDGE, LEAST_PANEL = 4.0, 8.0
"""Points: room round labels; the least width and height of a panel."""

Margins = dict[int, float]
"""Points that labels need, by the line of the grid on whose one side they stand, from 0."""


@contextmanager
def drawn(name: str, height: float, width: float = WIDTH) -> Iterator[Figure]:
    """An empty figure in inches; without any display it is drawn and saved in this context.

    Args:
        name: unique on the page; prefixes every identifier.
        height, width: in inches.
    """
    with rc_context(_STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), dpi=POINTS, label=name)
        yield figure


def line_style(index: int) -> dict[str, object]:
    """Colour and marker of the arithmetic at this place of the batch's list."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def label_style(label: str, order: Sequence[str]) -> dict[str, object]:
    """The look of a run: colour and marker of its arithmetic, dashes of its compensation; the
    first of the batch has the thickest line, so that it is seen below those that lie on it.

    Arithmetics of `COLOURED` have one colour on all pages, others one of those that are left. Where
    there are more arithmetics than colours, those that share one differ in their dashes.

    Args:
        label: "mlu370", "mlu370+carry".
        order: all labels of the batch.
    """
    parts = [run_label.partition("+")[::2] for run_label in order]
    arithmetics, compensations = (
        list(dict.fromkeys(column)) for column in zip(*parts, strict=True)
    )
    arithmetic, _, compensation = label.partition("+")
    places = {name: COLOURED.index(name) for name in arithmetics if name in COLOURED}
    places_left = (place for place in itertools.count() if place not in places.values())
    further = zip((name for name in arithmetics if name not in places), places_left, strict=False)
    place = (places | dict(further))[arithmetic]
    dashes = DASHES[(compensations.index(compensation) + place // len(COLOURS)) % len(DASHES)]
    hollow = {"markerfacecolor": "none"} if compensation else {}
    below = (len(order) - 1 - list(order).index(label)) / max(len(order) - 1, 1)
    width = {"linewidth": THIN + (THICKEST - THIN) * below}
    return line_style(place) | {"linestyle": dashes} | width | hollow


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
    texts = [text for text in labels or handles if text in handles]
    widest = LEGEND_HANDLE + LEGEND_LETTER * max(map(len, texts), default=0)
    columns = max(1, int(LEGEND_WIDTH / widest))
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * -(-len(texts) // columns))
    figure.legend(
        [handles[text] for text in texts], texts, loc="upper left",
        borderaxespad=0.2, ncols=columns, handlelength=1.8, columnspacing=1.4,
    )  # fmt: skip


_FONT = re.compile(r"font-family: [^;]*; |( transform=\"rotate\(-0 [^\"]*\")")
"""Of texts of an SVG: the page has a font, and a text that is turned by nothing need not say it."""
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
    """Give each line few markers, each axis few ticks, and plain labels: ticks are what takes
    longest to draw, and a phone has no room for many. Where an axis shows few powers of ten, there
    are ticks between them.
    """
    for place, line in enumerate(line for axes in figure.axes for line in axes.lines):
        step = -(-len(line.get_xdata()) // MOST_MARKERS)
        if step > 1 and line.get_linestyle() != "None":
            line.set_markevery((place * step // 3 % step, step))
    for axis in (side for axes in figure.axes for side in (axes.xaxis, axes.yaxis)):
        if type(axis.get_major_locator()) is AutoLocator:
            axis.get_major_locator().set_params(nbins=MOST_INTERVALS)
        low, high = sorted(axis.get_view_interval())
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            if (places := _between_powers(low, high)) is not None:
                few = len(places) < LEAST_TICKS
                axis.set_major_locator(MaxNLocator(FEW_INTERVALS) if few else FixedLocator(places))
            every = LogFormatterSciNotation(minor_thresholds=(math.inf, math.inf))
            axis.set_major_formatter(PlainPowers(every))
            axis.set_minor_locator(NullLocator())
        if isinstance(axis.get_major_locator(), MaxNLocator | LogLocator):
            places = axis.get_majorticklocs()
            visible = (places >= low) & (places <= high)
            axis.set_major_locator(FixedLocator(places[visible]))  # others would be made, too


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
    for patch in (figure.patch, *(axes.patch for axes in figure.axes)):
        patch.set(facecolor="none", edgecolor="none")
    _thin_out(figure)
    text = _as_text(figure)
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    text = text.replace(INK, "currentColor")
    text = _FONT.sub("", text)
    head, body = text.split(">", 1)
    view = re.search(r'viewBox="[^"]+"', head).group(0)
    label = description.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    opening = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return printable(f'{opening} {view} role="img" aria-label="{label}">{body}')


def _as_text(figure: Figure) -> str:
    """The figure's file; `savefig` would lay out and draw all of it several times."""
    buffer, size = io.StringIO(), figure.bbox.size
    lines = RendererSVG(*size, buffer, image_dpi=MAP_DPI, metadata=_NO_METADATA)
    renderer = MixedModeRenderer(figure, *figure.get_size_inches(), MAP_DPI, lines)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's reader has other fonts
        arrange(figure, renderer)
        figure.draw(renderer)
    renderer.finalize()
    return buffer.getvalue()


def arrange(figure: Figure, renderer: RendererBase) -> None:
    """Give all panels of a figure one size, and the room that their labels and the legend take.

    Matplotlib's own layouts measure each label several times, which is most of the time of a
    figure.

    Args:
        figure: of whose panels all is drawn.
        renderer: that will draw it.
    """
    left, right, above, below = Margins(), Margins(), Margins(), Margins()
    for axes in figure.axes:
        cell = axes.get_subplotspec().get_topmost_subplotspec()
        inside = cell.get_position(figure).transformed(figure.transSubfigure)
        box = _with_labels(axes, renderer) if axes.axison else inside
        for room, line, points in (
            (left, cell.colspan.start, inside.x0 - box.x0),
            (right, cell.colspan.stop, box.x1 - inside.x1),
            (above, cell.rowspan.start, box.y1 - inside.y1),
            (below, cell.rowspan.stop, inside.y0 - box.y0),
        ):
            room[line] = max(room.get(line, 0.0), points)
    above[0] += sum(words.get_window_extent(renderer).height for words in figure.legends)
    (width, height), (rows, columns) = figure.bbox.size, (max(below), max(right))
    first, last, across = _divided(width, columns, left, right)
    top, bottom, down = _divided(height, rows, above, below)
    figure.subplots_adjust(
        left=first / width, right=1.0 - last / width, wspace=across,
        top=1.0 - top / height, bottom=bottom / height, hspace=down,
    )  # fmt: skip


def _divided(
    length: float, count: int, before: Margins, after: Margins
) -> tuple[float, float, float]:
    """Room in points before the first and after the last of some panels in a row of a length, and
    between two of them, over the size of one; each needs room before and after it.
    """
    first, last = before[0] + EDGE, after[count] + EDGE
    gap = max((after[line] + before[line] + EDGE for line in range(1, count)), default=0.0)
    size = max((length - first - last - gap * (count - 1)) / count, LEAST_PANEL)
    return first, min(last, length - first - size), gap / size


def _with_labels(axes: Axes, renderer: RendererBase) -> Bbox:
    """The place of a panel with what is written round it, in points, once the labels of its axes
    have their places there and its title is above all numbers.
    """
    axes.apply_aspect()
    box = Bbox.union([_with_label(axis, renderer) for axis in (axes.xaxis, axes.yaxis)])
    for words in axes.get_children():
        if isinstance(words, Text) and words.get_text():
            if axes.yaxis.get_offset_text().get_text() and words.get_text() == axes.get_title():
                words.set_y((box.y1 - axes.bbox.y0) / axes.bbox.height)
            box.y1 = max(box.y1, words.get_window_extent(renderer).y1)
    return box


def _with_label(axis: Axis, renderer: RendererBase) -> Bbox:
    """The place of a panel with an axis' numbers and its label, in points, once it has its place;
    a label that is longer than the panel takes no room along it.
    """
    label, panel = axis.label, axis.axes.bbox
    axis.set_label_coords(0.5, 0.5)  # so that Matplotlib does not measure all numbers for it again
    with label._cm_set(visible=False):
        numbers = axis.get_tightbbox(renderer)
    box = Bbox.union([panel, numbers]) if numbers else Bbox(panel.get_points())
    side = axis.get_label_position()
    across, up, edge = {
        "bottom": (0.5, 0.0, "y0"), "left": (0.0, 0.5, "x0"), "right": (1.0, 0.5, "x1"),
    }[side]  # fmt: skip
    away = getattr(box, edge) - getattr(panel, edge)
    away += axis.labelpad if side == "right" else -axis.labelpad
    inches = (0.0, away / POINTS) if side == "bottom" else (away / POINTS, 0.0)
    shift = ScaledTranslation(*inches, axis.figure.dpi_scale_trans)
    axis.set_label_coords(across, up, transform=axis.axes.transAxes + shift)
    if label.get_visible() and label.get_text():
        setattr(box, edge, getattr(label.get_window_extent(renderer), edge))
    return box
