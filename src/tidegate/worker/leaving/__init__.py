"""How a worker leaves: retired or stopped, in which order, and what keeps others from stopping it before."""
