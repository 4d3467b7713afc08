"""Pure: values in, values out. No I/O, clock, environment, logging, randomness or async."""
