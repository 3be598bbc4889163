"""Baselines: stored results of runs, the noise around them, and checks of later runs against both.


    requests    what a baseline is asked of: a scenario as its runs
    asking      requests as a command line names them, and as baselines have noted them: kernels,
                prices as `sciprec price` makes them, rows of a benchmark
    keeping     what is kept of a run's variables, and how far two of them are apart
    noise       the spread of runs whose inputs are one unit of their format apart
    pace, room  how long runs take beside a reference kernel, and how much memory
    records     the files of a baseline: JSON and netCDF, sealed
    answering   what the runs of a request give: values, noise, time and memory
    saving      these, kept as a baseline
    judging     a verdict for each metric of what a run gives today
    words       baselines as text
    checking    runs of a request against its baseline
"""
