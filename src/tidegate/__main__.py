"""`python -m tidegate` is the `tidegate` command."""

from tidegate.entrypoints.start import main

if __name__ == "__main__":
    main()
