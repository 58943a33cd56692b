"""The paper's tables, cell by cell: what to run, running it, and setting it beside the paper."""
