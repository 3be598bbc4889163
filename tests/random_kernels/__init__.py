"""Random kernels: a net for faults of the engine.

    cases         a kernel with its arguments, and a trial: a case in one backend
    values        arguments that find mistakes, for a format and a seed
    scopes        what a kernel being written may name
    expressions   random expressions
    statements    random statements and loops
    tuples        random tuples, and counts that begin with a literal
    generator     whole kernels from a seed
    trials        one trial in this process: lifted, compiled or not, against the exact oracle
    worker        many trials in copies of a process that may die, and which of them killed one
    runner        starts workers
    backends      where random kernels are run, and which oracle takes which kernel
    faults        planted faults, by which the net's power is proved
    power         the sample of the slow tests, and which trials find the planted faults
    survey        many kernels in many backends, in chunks that a stop does not lose
"""
