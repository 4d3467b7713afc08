"""One machine as a cloud: an SQS endpoint, the other AWS APIs, metrics, and an agent that runs real workers."""
