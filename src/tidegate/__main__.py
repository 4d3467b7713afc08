"""`python -m tidegate` is the `tidegate` command."""

from tidegate.entrypoints.cli import main

if __name__ == "__main__":
    main()
