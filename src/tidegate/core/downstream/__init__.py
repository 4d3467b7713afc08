"""The guard of what handlers call: what it has seen (`state`), what it makes of that, and how it holds workers back."""
