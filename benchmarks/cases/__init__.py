"""One module per family; each has a table `CASES` of workloads."""
