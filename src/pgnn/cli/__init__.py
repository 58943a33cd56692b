"""The `pgnn` command: thin functions that read options, call the library and print."""
