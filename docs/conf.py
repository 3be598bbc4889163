"""The documentation as a site: `sphinx-build -W -n docs site`, without a network."""

import os
import re
import sys
from pathlib import Path

import sciprec

sys.path.insert(0, str(Path(__file__).parent))
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # `sciprec`

PACKAGE = "."
"""The word that pip is given to install sciprec, in README and docs: the folder of a checkout until
it is on an index, which its name stands for.
"""

project = "sciprec"
author = copyright = "the sciprec maintainers"
version = release = sciprec.__version__

extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "reference_directives",
]  # fmt: skip
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "sciprec"
myst_heading_anchors = 4
nb_execution_mode = "cache"  # tutorials run again where they, or what they ran with, changed
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
autodoc_typehints = "none"
napoleon_use_ivar = True
nitpick_ignore_regex = [("py:class", ".*")]  # types in docstrings are words


def installed_from(text, package):
    """A page whose lines with `pip install .` install that package."""
    return re.sub(r"(?<=pip install )\.(?=$|`)", package, text, flags=re.MULTILINE)


def setup(app):
    """Let every page say how sciprec is installed."""

    def say(app, name, source):
        source[0] = installed_from(source[0], PACKAGE)

    app.connect("source-read", say)
