output "table_arn" {
  description = "ARN of the table, for modules/pool and the workers."
  value       = aws_dynamodb_table.this.arn
}

output "table_name" {
  description = "Name of the table."
  value       = aws_dynamodb_table.this.name
}

output "role_arn" {
  description = "ARN of the controller's role, for the policies of queues in other accounts."
  value       = aws_iam_role.controller.arn
}

output "policy_json" {
  description = "What the controller may do."
  value       = aws_iam_role_policy.controller.policy
}

output "settings" {
  description = "The settings as the controller reads them."
  value       = local.settings
}

output "settings_source" {
  description = "TIDEGATE_CONFIG of the controller; for tidegate status, freeze, pin and resume too."
  value       = local.settings_source
}

output "log_group_name" {
  description = "Where the decisions are logged."
  value       = aws_cloudwatch_log_group.this.name
}

output "function_arn" {
  description = "ARN of the function; null with controller = \"ecs\"."
  value       = one(aws_lambda_function.this[*].arn)
}

output "service_arn" {
  description = "ARN of the controller's own ECS service; null with controller = \"lambda\"."
  value       = one(aws_ecs_service.this[*].id)
}
