"""Modelled cost: operations and bytes of a run against published peak rates of machines."""
