"""Calls of a user's kernel: the kernel of a file, its inputs, and the results of a call.

    kernel_file   a kernel of a Python file, named as FILE.py:FUNCTION
    inputs        the arguments of calls, from Python or from files
    call_results  what a call has left, as arrays by name
    outputs       a call on copies of its arguments, and what it leaves as a dataset
"""
