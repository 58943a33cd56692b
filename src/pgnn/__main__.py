"""`python -m pgnn` is the command."""

from pgnn.cli.app import main

if __name__ == "__main__":
    main()
