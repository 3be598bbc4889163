"""Runs made again under other circumstances, and which of these their bits depend on.

    circumstances   what a run may not depend on: how a process is started, and how a call is made
    listings        lists of files in another order
    leavings        what a run has left, and where two of them differ first
    kernel_process  the calls of a kernel in a process of their own
    kernels         a kernel with its inputs
    commands        a command, its files and what it prints
    scenarios       a scenario as such commands
    judging         what differs with which circumstance
    suspects        lines of source that explain a difference
    findings        the answer
"""
