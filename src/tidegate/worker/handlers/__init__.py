"""The user's code: what can be a handler, how it is called, and where it runs."""
