# infra/iam/worker.json with this pool's names in it. A statement that has nothing to be about here is left out; one that
# this file does not know is an error, so that the policy can't grow unseen.
data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  uses_sdk    = var.table_arn != null
  dead_letter = compact([local.dead_letter_queue_arn])

  worker_resources = {
    WorkOnTheQueue    = [local.queue_arn]
    FindTheQueues     = concat([local.queue_arn], local.dead_letter)
    PutDeadLetters    = local.dead_letter
    BeSparedInScaleIn = local.tasks
    ReportToTheFleet  = local.tables
    HearTheController = local.tables
    # The group is in this account and Region, wherever the queue is.
    BeSparedAndWaitedForInTheGroup = [
      for group in compact([var.autoscaling_group]) :
      "arn:${data.aws_partition.current.partition}:autoscaling:${local.here}:autoScalingGroup:*:autoScalingGroupName/${group}"
    ]
    NoteWhatBecomesOfMessages    = local.tables
    HoldPermits                  = local.tables
    ReadAndMoveEncryptedMessages = compact([var.kms_key_arn])
  }
  tables = compact([var.table_arn])
  tasks  = [for ecs in var.ecs[*] : "${replace(ecs.cluster_arn, ":cluster/", ":task/")}/*"]

  worker_source = concat(
    jsondecode(file("${path.module}/../../../iam/worker.json")).Statement,
    jsondecode(file("${path.module}/../../../iam/worker-kms.json")).Statement,
  )

  worker_statements = [
    for statement in local.worker_source : merge(
      jsondecode(replace(replace(jsonencode(statement), "POOL", var.name), "sqs.REGION.", "sqs.${local.region}.")),
      { Resource = local.worker_resources[statement.Sid] },
    ) if length(local.worker_resources[statement.Sid]) > 0
  ]
  region = split(":", local.queue_arn)[3]
  here   = "${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}"
}

resource "aws_iam_policy" "worker" {
  name_prefix = "tidegate-${var.name}-worker-"
  description = "What a worker of the pool ${var.name} does: receive, settle, report."
  policy      = jsonencode({ Version = "2012-10-17", Statement = local.worker_statements })
  tags        = var.tags

  lifecycle {
    precondition {
      condition     = (var.ecs == null) != (var.autoscaling_group == null)
      error_message = "Set exactly one of ecs and autoscaling_group: what the pool scales."
    }
    precondition {
      condition     = var.min_workers <= var.max_workers
      error_message = "min_workers is more than max_workers."
    }
    precondition {
      condition     = var.target_wait != null || can(jsondecode(var.more_settings).finish_by)
      error_message = "Set target_wait, or finish_by in more_settings."
    }
  }
}

resource "aws_iam_role_policy_attachment" "worker" {
  count = var.attach_worker_policy ? 1 : 0

  role       = var.worker_role_name
  policy_arn = aws_iam_policy.worker.arn
}
