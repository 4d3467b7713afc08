output "alarm_arns" {
  description = "ARN of each alarm by its id."
  value       = { for id, alarm in aws_cloudwatch_metric_alarm.this : id => alarm.arn }
}

output "dashboard_name" {
  description = "Name of the pool's dashboard."
  value       = aws_cloudwatch_dashboard.this.dashboard_name
}
