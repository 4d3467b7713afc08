"""A worker's settings: their kinds of values, what must hold between them, and faults in plain words."""
