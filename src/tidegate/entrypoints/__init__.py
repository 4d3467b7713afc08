"""The programs, and the wiring that gives each its adapters: the only place that sees everything."""
