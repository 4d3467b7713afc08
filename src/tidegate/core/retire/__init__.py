"""Scale-in that interrupts nothing: who takes no more work, and by how many the count may fall."""
