"""Facets: features that cross the package, a folder each, with their keys and their page section.

A facet belongs to no single model, tool or page: a scenario asks for it, the engine or a model does
it, files tell of it, and the page shows it. Its folder has what it adds to scenarios, files and
pages; its docstring says where the work itself is done:

- `keys.py`: its keys of a scenario. Keys of all kinds are fields of `Scenario`
  (`scenario/loading.py`); those of some kinds are a class after `AddedKeys` (`tables.py`), which
  stands before `Scenario` among the bases of these kinds' scenarios, and wraps its methods:
  `WithScaling.arithmetics` gives scales to the arithmetics that `Scenario.arithmetics` returns;
- `models.py`: the steps of a user's model as it wraps them. The climate's are wrapped in
  `climate/running/`, in terms of the climate;
- `attributes.py`: variables and attributes (`JsonAttribute`) that it writes into files, and reads
  from them. Names that comparisons read, too, stand below, in `results/output/stated.py`;
- `section.py` and `section.html`: its part of the page, a `PageSection` (`sections.py`) called
  SECTION, which `report/section.py` has in a list, in the order of the page.

A facet leaves out what it does not need.
"""
