"""The messages in hand, from the receive to the delete, the next try, or the dead letters."""
