"""Random lists of options: a net for budgets that noise wastes.

generator   models and lists of payoffs from a seed
trials      what a list costs beside its parts and other seeds, and what more work buys
survey      many of them, in a folder, resumable
"""
