"""Draw the pictures of the pages again: `python docs/pictures/draw.py`.

Each is that of the example of its page, which is run as it stands there.
"""

import re
import runpy
import tempfile
from pathlib import Path

import numpy as np

import sciprec
from sciprec.drawing.svg import COLOURS, drawn, legend, to_svg

HERE = Path(__file__).resolve().parent
OPENING = (
    '<svg style="color: #1f2328; background: #ffffff; font-family: sans-serif" '
    'font-family="sans-serif" color="#1f2328"'
)


def example(page, words, folder):
    """The names that an example of a page leaves: its block with these words."""
    text = (HERE.parent / page).read_text("utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if words in b)
    script = folder / f"{Path(page).stem}.py"
    script.write_text(block, encoding="utf-8")
    return runpy.run_path(str(script))


def of_page(result, folder):
    """The first figure of a result's page."""
    page = result.html(folder / "page.html").read_text("utf-8")
    return re.search(r"<svg.*?</svg>", page, re.DOTALL).group()


def errors_by_size(names):
    """Errors of the mend page's kernel, as it is and mended, over the size of the mean."""
    mend, deviation = names["mend"], names["deviation"]
    noise = np.random.default_rng(3).normal(0.0, 0.5, 256)
    kernels = {"as it is": deviation, mend.proposals[0].title: mend.proposals[0].kernel}
    means = 10.0 ** np.arange(-1.0, 4.26, 0.25)
    with drawn("mend", 3.0) as figure:
        axes = figure.add_subplot()
        for number, (title, kernel) in enumerate(kernels.items()):
            lifted, errors = sciprec.lift(kernel, "fp32"), []
            for mean in means:
                x = sciprec.quantize(mean + noise, "fp32")
                true = np.std(x.astype(np.longdouble))
                errors.append(float(abs(lifted(x) - true) / true))
            axes.loglog(
                means, np.maximum(errors, 1e-9), color=COLOURS[number], label=title,
                linestyle=("-", "--")[number], marker="os"[number],
            )  # fmt: skip
        axes.set(xlabel="mean of x, whose deviation is 0.5", ylabel="relative error in fp32")
        legend(figure)
        return to_svg(figure, "Relative errors of a standard deviation, as it is and mended")


def main():
    """Write every picture."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        pictures = {
            "digits": of_page(example("explain/digits.md", "def bank", folder)["found"], folder),
            "monitor": of_page(
                example("explain/monitor.md", "def diffuse", folder)["seen"], folder
            ),
            "mend": errors_by_size(example("explain/mend.md", "def deviation", folder)),
        }
        for name, svg in pictures.items():
            background = '<rect width="100%" height="100%" fill="#ffffff"/>'
            head, rest = svg.replace("<svg", OPENING, 1).split(">", 1)
            (HERE / f"{name}.svg").write_text(f"{head}>{background}{rest}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
