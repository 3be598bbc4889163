"""Random mutants of the package, by which the tests' power is measured; run by hand.

    python -m tests.mutants.drawing             # draws the list anew, from the seed
    python -m tests.mutants.survey COLUMN       # plants each; once more: goes on where it ended

Each mutant is planted in a copy of the checkout, and the test files nearest to its module run
against it, with an empty cache, until a test fails or their processor time is used up.
`mutants.json` has the list, drawn from the package before the tests were shortened (5f7549f8), and
what killed each by the tests "before" and "after". Lines are those of that commit. Three of what
killed "after" (`tracing/assigned.py`, `diagnosis/losses.py`, `operations/fusing.py`) were not among
the nearest files, and were run by hand. Of what survived "before", one alone was tried again.
"""
