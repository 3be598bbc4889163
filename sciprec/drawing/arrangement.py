"""Room for the labels of a figure's panels, measured once."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox, ScaledTranslation

POINTS = 72
"""In an inch, and in a figure the unit of places and sizes."""
EDGE, LEAST_PANEL = 4.0, 8.0
"""Points: room round labels; the least width and height of a panel."""

Room = dict[int, float]
"""Points that labels need, by the line of the grid on whose one side they stand, from 0."""


def arrange(figure: Figure, renderer: RendererBase) -> None:
    """Give all panels of a figure one size, and the room that their labels and the legend take.

    Matplotlib's own layouts measure each label several times, which is most of the time of a
    figure.

    Args:
        figure: of whose panels all is drawn.
        renderer: that will draw it.
    """
    left, right, above, below = Room(), Room(), Room(), Room()
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


def _divided(length: float, count: int, before: Room, after: Room) -> tuple[float, float, float]:
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
