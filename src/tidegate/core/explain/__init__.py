"""A decision in words and figures: its sentence, its steps, its health, its metrics."""
