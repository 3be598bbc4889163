"""Figures of pages: room for labels, looks of lines."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sciprec.drawing.svg import MOST_MARKERS, arrange, drawn, label_style, legend, to_svg
from sciprec.report.sections.figures import _ends

SLACK = 1.5
"""Points by which an overhanging letter may touch what is beside it."""


@pytest.mark.parametrize(
    ("rows", "columns", "scale"), [(1, 1, "linear"), (1, 3, "log"), (3, 1, "log"), (2, 3, "linear")]
)
def test_labels_stay_in_the_figure_and_off_each_other(rows, columns, scale):
    with drawn("f", 1.2 + 1.8 * rows) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for number, axes in enumerate(panels):
            sizes = 10.0 ** np.linspace(-9, 3 * number - 9 + 3, 5)
            axes.plot(sizes, label=f"line {number}")
            axes.set(title="a panel", xlabel="along", ylabel="size of an error", yscale=scale)
        extent = (0, 4, *panels[-1].get_ylim())
        image = panels[-1].imshow([[0.0, 1e5]], aspect="auto", extent=extent)
        figure.colorbar(image, ax=panels[-1], label="height in m")
        legend(figure)
        renderer = FigureCanvasAgg(figure).get_renderer()
        arrange(figure, renderer)
        boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
        boxes += [words.get_window_extent(renderer) for words in figure.legends]
    width, height = figure.bbox.size
    for box in boxes:
        assert box.x0 > -SLACK and box.y0 > -SLACK
        assert box.x1 < width + SLACK and box.y1 < height + SLACK
    for one, other in itertools.combinations(boxes, 2):
        beside = one.x1 < other.x0 + SLACK or other.x1 < one.x0 + SLACK
        assert beside or one.y1 < other.y0 + SLACK or other.y1 < one.y0 + SLACK


def test_an_arithmetic_has_one_colour_on_all_pages_and_none_anothers():
    pages = [["fp64", "fp16"], ["fp64", "e5m2", "fp32", "fp16"], ["fp64", "a", "b", "fp16+carry"]]
    assert len({label_style(page[-1], page)["color"] for page in pages}) == 1
    for page in pages:
        assert len({label_style(label, page)["color"] for label in page}) == len(page)


def test_the_first_line_is_thickest_and_a_long_one_has_few_markers():
    first, last = (label_style(label, ["fp32", "fp16"])["linewidth"] for label in ("fp32", "fp16"))
    assert first > last
    with drawn("f", 3.0) as figure:
        figure.add_subplot().plot(np.arange(500.0), marker="o")
        assert 0 < to_svg(figure, "a line").count("<use") <= MOST_MARKERS + 20  # and ticks


@pytest.mark.parametrize("places, ends", [
    (None, (-0.5, 3.5, "x, number")), ([2.0, 2.5, 3.0, 3.5], (1.75, 3.75, "x")),
    ([1.0, 2.0, 4.0, 8.0], (-0.5, 3.5, "x, number")), (list("abcd"), (-0.5, 3.5, "x, number")),
])  # fmt: skip
def test_axes_of_maps_have_evenly_spaced_coordinates_or_numbers(places, ends):
    grid = xr.DataArray(np.zeros(4), dims="x", coords={} if places is None else {"x": places})
    assert _ends(grid, "x") == ends
