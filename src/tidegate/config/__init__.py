"""The settings: one TOML file, overridden by TIDEGATE_… variables, checked as a whole."""
