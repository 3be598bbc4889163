"""Errors, checks of arguments, doors for extensions, digests of code, and the one door for writes.

    errors, interrupts            the exception of bad input; Ctrl-C that waits
    arguments, limits, room, stored_objects   checks of what users give, one sentence each
    listing, notebook, course     how results look at a prompt and in a notebook
    plain_data                    what JSON holds of them
    later, loading, moved         rows that upper rooms fill by name; plugins; older names
    definitions, origin, memory   which code made a result, on what machine
    time_steps, timing            time steps of a run, and the time that they took
    targets, whole, sealed        writes that leave a whole file or the old one
"""
