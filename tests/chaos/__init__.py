"""A storm over real workers, and a ledger that must explain each message that ran twice."""
