"""The loop: observe, decide, record, act. No formulas."""
