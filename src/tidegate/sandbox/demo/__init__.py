"""`tidegate demo`: traffic, real workers and the real controller on one machine, and a verdict from a ledger."""
