"""Numbers made of fields: budgets, norms, climates, stored solutions."""
