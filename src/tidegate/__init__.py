"""tidegate: keeps the wait of an SQS queue under its target by setting the number of ECS or EC2 workers."""
