"""Names of statistics over time, which models make and files hold: time_mean_u."""

TIME_METHODS = ("mean", "maximum", "minimum", "sum")
"""Methods of CF's `cell_methods` for the interval from one stored state to the next."""
PERIODS = ("month", "year")
"""Intervals of the calendar that statistics may be over."""
_PREFIXES = {f"time_{method}_": method for method in TIME_METHODS}


def over_time(name: str) -> tuple[str, str]:
    """The method of a statistic and the variable that it is of; the method is empty for others.

    Args:
        name: of a variable, such as "time_mean_zonal_mean_u".
    """
    for prefix, method in _PREFIXES.items():
        if name.startswith(prefix):
            return method, name.removeprefix(prefix)
    return "", name


def statistics_of(name: str) -> tuple[str, ...]:
    """Names of all statistics of a variable."""
    return tuple(f"{prefix}{name}" for prefix in _PREFIXES)


def prefixes() -> tuple[str, ...]:
    """Beginnings of the names of statistics."""
    return tuple(_PREFIXES)
