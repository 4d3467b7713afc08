"""Is the worker alive, and does it take work? Looked at, and told over HTTP and in a file."""
