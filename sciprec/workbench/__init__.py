"""The workbench: kinds of scenario, models of users, batches of runs, and studies of kernels."""
