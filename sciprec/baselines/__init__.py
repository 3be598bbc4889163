"""What runs have given once, how far noise moves it, and whether it is still so.


    requests    what a baseline is asked of: a scenario as its runs
    kernel_requests  a kernel with its inputs as runs
    asking      requests as a command line names them, and as baselines have noted them
    keeping     what is kept of a run's variables, and how far two of them are apart
    noise       the spread of runs whose inputs are one unit of their format apart
    pace        how long runs take beside a reference kernel
    records     the files of a baseline: JSON and netCDF, sealed
    saving      runs of a request, kept as a baseline
    judging     a verdict for each metric of what a run gives today
    words       baselines as text
    checking    runs of a request against its baseline
"""
