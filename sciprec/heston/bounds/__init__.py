"""Prices whose stated bound holds: estimators, levels, their plan, and its proof."""
