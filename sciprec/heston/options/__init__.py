"""Options: their payments, and the facts about a path that these need.

A new one is a class derived from Payoff, decorated by `payoff`. It says what it observes
(`observation`, see sciprec.heston.observations), what it then pays at its maturity (`payment`), and
which formulas are known for it.
"""
