"""A kernel of a user's own: its inputs, what it leaves, its fewest bits, and which line errs.

    kernel_file   a kernel of a Python file, named as FILE.py:FUNCTION
    inputs        the arguments of calls, from Python or from files
    subjects      what is studied: a kernel, its inputs, and which results count
    call_results  what a call has left, as arrays by name
    outputs       a call on copies of its arguments, and what it leaves as a dataset
    kernel_kind   the kind of scenario that a study is run as
    bit_search    the least significand and exponents whose error stays under a tolerance
    kernel_page   `sciprec.study`: the door to all of this
    traces        `sciprec.trace`: which line makes the error, and what of it to act on
"""
