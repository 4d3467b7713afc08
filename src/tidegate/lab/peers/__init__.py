"""The other autoscalers, each by its own published rules. A rival is never weakened: where a rule leaves room, its
docstring says what was taken, and it is taken in the rival's favour."""
