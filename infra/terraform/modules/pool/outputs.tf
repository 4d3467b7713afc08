output "pool" {
  description = "What the controller needs to know of this pool: pools = { orders = module.orders.pool }."
  value = {
    settings          = jsonencode(local.settings)
    queue_arn         = local.queue_arn
    service_arn       = try(var.ecs.service_arn, null)
    autoscaling_group = var.autoscaling_group
  }
}

output "queue_arn" {
  description = "ARN of the pool's queue."
  value       = local.queue_arn
}

output "queue_url" {
  description = "URL of the queue that was made here; null for one that existed."
  value       = one(aws_sqs_queue.this[*].url)
}

output "dead_letter_queue_arn" {
  description = "ARN of the pool's dead-letter queue; null where there is none."
  value       = local.dead_letter_queue_arn
}

output "worker_policy_arn" {
  description = "ARN of the policy that the workers' role needs."
  value       = aws_iam_policy.worker.arn
}

output "worker_policy_json" {
  description = "The same policy as JSON, for roles that are managed elsewhere."
  value       = aws_iam_policy.worker.policy
}

output "worker_environment" {
  description = "Variables of the workers' container or unit."
  value = merge(
    {
      TIDEGATE_WORKER_QUEUE = local.queue_arn
      TIDEGATE_WORKER_POOL  = var.name
      TIDEGATE_WORKER_SLOTS = tostring(var.slots_per_worker)
    },
    local.uses_sdk ? { TIDEGATE_WORKER_TABLE = var.table_arn } : {},
  )
}

output "alarm_arns" {
  description = "ARN of each alarm by its id."
  value       = module.alarms.alarm_arns
}

output "dashboard_name" {
  description = "Name of the pool's dashboard."
  value       = module.alarms.dashboard_name
}
