"""`python -m tidegate` is the `tidegate` command."""

from tidegate.entrypoints.cli import main

main()
