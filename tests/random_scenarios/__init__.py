"""Random scenarios: a net for faults between a scenario's file and its page.

generator   small scenarios over all that files may say, plugins' names among it, from a seed
mistakes    one mistake in a scenario, and a word that the sentence about it holds
stand_ins   datasets of the form that models give, with nothing compiled
journey     from the file to the page: plan, run, interruption, comparison, verdicts
"""
