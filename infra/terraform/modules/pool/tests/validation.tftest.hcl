# Never the real provider: these tests apply what they assert on.
mock_provider "aws" {
  source = "../../tests/mocks"
}

variables {
  name        = "orders"
  target_wait = "30s"
  max_workers = 20
  ecs = {
    cluster_arn = "arn:aws:ecs:us-east-1:123456789012:cluster/prod"
    service_arn = "arn:aws:ecs:us-east-1:123456789012:service/prod/orders"
  }
}

# Every validation at once: each variable below has a value that it must refuse.
run "refuses_every_wrong_value" {
  command = plan
  variables {
    name                       = "my orders"
    table_arn                  = "tidegate"
    queue_arn                  = "orders"
    dead_letter_queue_arn      = "https://sqs.us-east-1.amazonaws.com/123456789012/dead"
    kms_key_arn                = "alias/orders"
    fifo                       = null
    visibility_timeout_seconds = 0
    message_retention_seconds  = 59
    max_receive_count          = 0
    queue_policy_statements    = "Allow"
    ecs                        = { cluster_arn = "prod", service_arn = "orders" }
    autoscaling_group          = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/g"
    target_wait                = "half a minute"
    min_workers                = -1
    max_workers                = 0
    slots_per_worker           = 1.5
    more_settings              = "policy = wait"
    worker_role_name           = "arn:aws:iam::123456789012:role/worker"
    attach_worker_policy       = null
    namespace                  = "AWS/SQS"
    late_share_objective       = 5
    scale_events_per_minute    = 0
    left_out                   = ["cpu"]
    alarm_actions              = ["pager"]
    tags                       = { "aws:x" = "y" }
  }
  expect_failures = [
    var.name, var.table_arn, var.queue_arn, var.dead_letter_queue_arn, var.kms_key_arn, var.fifo,
    var.visibility_timeout_seconds, var.message_retention_seconds, var.max_receive_count, var.queue_policy_statements, var.ecs,
    var.autoscaling_group, var.target_wait, var.min_workers, var.max_workers, var.slots_per_worker, var.more_settings,
    var.worker_role_name, var.attach_worker_policy, var.namespace, var.late_share_objective,
    var.scale_events_per_minute, var.left_out, var.alarm_actions, var.tags,
  ]
}

run "refuses_longer_times_and_counts_than_sqs_has" {
  command = plan
  variables {
    visibility_timeout_seconds = 43201
    message_retention_seconds  = 1209601
    max_receive_count          = 1001
  }
  expect_failures = [var.visibility_timeout_seconds, var.message_retention_seconds, var.max_receive_count]
}
