"""How many workers the load needs, before anything limits them: a formula for each objective."""
