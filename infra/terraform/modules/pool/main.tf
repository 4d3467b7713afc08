# One pool: its queue (or one that exists), its alarms and dashboard, and what its workers may do.
locals {
  makes_queue = var.queue_arn == null
  suffix      = var.fifo ? ".fifo" : ""
  queue_name  = replace(var.name, ".", "-")

  queue_arn             = local.makes_queue ? aws_sqs_queue.this[0].arn : var.queue_arn
  dead_letter_queue_arn = local.makes_queue ? aws_sqs_queue.dead_letters[0].arn : var.dead_letter_queue_arn

  made_queues = merge(
    { for queue in aws_sqs_queue.this : "queue" => queue },
    { for queue in aws_sqs_queue.dead_letters : "dead_letters" => queue },
  )

  tls_only = {
    Sid       = "RefuseWhatDoesNotComeOverTls"
    Effect    = "Deny"
    Principal = { AWS = "*" }
    Action    = "sqs:*"
    Condition = { Bool = { "aws:SecureTransport" = "false" } }
  }

  # Alarms and dashboard look at the metrics of this account and Region: of a queue elsewhere they would see nothing, or
  # another one of that name. Known at plan time, unlike the ARN of a queue that is still to be made.
  given_is_here          = try(startswith(var.dead_letter_queue_arn, "arn:${data.aws_partition.current.partition}:sqs:${local.here}:"), false)
  given_name             = local.given_is_here ? try(split(":", var.dead_letter_queue_arn)[5], null) : null
  made_name              = "${local.queue_name}-dead${local.suffix}"
  dead_letter_queue_name = local.makes_queue ? local.made_name : local.given_name

  settings = merge(
    {
      queue            = local.queue_arn
      min_workers      = var.min_workers
      max_workers      = var.max_workers
      slots_per_worker = var.slots_per_worker
    },
    { for key, value in { target_wait = var.target_wait, asg = var.autoscaling_group } : key => value if value != null },
    { for key, value in { ecs = var.ecs } : key => { cluster = value.cluster_arn, service = value.service_arn } if value != null },
    jsondecode(var.more_settings),
  )
}

resource "aws_sqs_queue" "dead_letters" {
  count = local.makes_queue ? 1 : 0

  name                      = local.made_name
  fifo_queue                = var.fifo
  message_retention_seconds = 1209600
  kms_master_key_id         = var.kms_key_arn
  sqs_managed_sse_enabled   = var.kms_key_arn == null ? true : null
  tags                      = var.tags
}

resource "aws_sqs_queue" "this" {
  count = local.makes_queue ? 1 : 0

  name                       = "${local.queue_name}${local.suffix}"
  fifo_queue                 = var.fifo
  visibility_timeout_seconds = var.visibility_timeout_seconds
  message_retention_seconds  = var.message_retention_seconds
  receive_wait_time_seconds  = 20
  kms_master_key_id          = var.kms_key_arn
  sqs_managed_sse_enabled    = var.kms_key_arn == null ? true : null
  tags                       = var.tags

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead_letters[0].arn
    maxReceiveCount     = var.max_receive_count
  })

  lifecycle {
    precondition {
      condition     = var.dead_letter_queue_arn == null
      error_message = "dead_letter_queue_arn goes with queue_arn: a queue that is made here has its own."
    }
  }
}

# No other queue may use this one as its dead-letter queue.
resource "aws_sqs_queue_redrive_allow_policy" "dead_letters" {
  count = local.makes_queue ? 1 : 0

  queue_url = aws_sqs_queue.dead_letters[0].id
  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [aws_sqs_queue.this[0].arn]
  })
}

# Neither of them takes what does not come over TLS.
resource "aws_sqs_queue_policy" "tls_only" {
  for_each = local.made_queues

  queue_url = each.value.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for one in concat([local.tls_only], [for more in jsondecode(var.queue_policy_statements) : more if each.key == "queue"]) :
      merge(one, { Resource = each.value.arn })
    ]
  })
}

module "alarms" {
  source = "../alarms"

  pool                   = var.name
  namespace              = var.namespace
  dead_letter_queue_name = local.dead_letter_queue_name

  late_share_objective    = var.late_share_objective
  scale_events_per_minute = var.scale_events_per_minute
  left_out                = var.left_out
  alarm_actions           = var.alarm_actions
  tags                    = var.tags
}
