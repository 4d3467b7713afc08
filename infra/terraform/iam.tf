# infra/iam/controller.json with the pools' names in it. A statement that has nothing to be about here is left out; one
# that this file does not know is an error, so that the policy can't grow unseen.
locals {
  account = "${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}"
  holding_alarms = [
    for any_pool in [true] : "arn:${data.aws_partition.current.partition}:cloudwatch:${local.account}:alarm:*"
    if anytrue([for pool in var.pools : can(jsondecode(pool.settings).hold_on_alarms)])
  ]
  groups = compact([for pool in var.pools : pool.autoscaling_group])

  controller_resources = {
    ReadSettingsFromParameter          = [aws_ssm_parameter.settings.arn]
    ReadSettingsFromBucket             = []
    ReadQueueCounts                    = distinct([for pool in var.pools : pool.queue_arn])
    ReadMetricsWhichHaveNoResourceType = ["*"]
    ReadTheAlarmsThatHoldPools         = local.holding_alarms
    PublishMetricsIntoOneNamespace     = local.is_lambda ? [] : ["*"]
    ScaleTheService                    = compact([for pool in var.pools : pool.service_arn])
    ReadGroupsWhichHaveNoResourceType  = length(local.groups) > 0 ? ["*"] : []
    ScaleTheGroup = [
      for group in local.groups :
      "arn:${data.aws_partition.current.partition}:autoscaling:${local.account}:autoScalingGroup:*:autoScalingGroupName/${group}"
    ]
    KeepStateAndReadHeartbeats = [aws_dynamodb_table.this.arn]
  }

  controller_statements = [
    for statement in jsondecode(file("${path.module}/../iam/controller.json")).Statement : merge(
      jsondecode(replace(jsonencode(statement), "NAMESPACE", var.namespace)),
      { Resource = local.controller_resources[statement.Sid] },
    ) if length(local.controller_resources[statement.Sid]) > 0
  ]

  # The same for what goes with the function alone.
  log_statements = [
    for statement in jsondecode(file("${path.module}/../iam/lambda.json")).Statement :
    merge(statement, { Resource = ["${aws_cloudwatch_log_group.this.arn}:*"] })
  ]

  # Only what is encrypted with a key of one's own needs it.
  key_statements = [
    for key in compact([var.kms_key_arn]) : {
      Sid      = "ReadWhatIsEncryptedWithTheKey"
      Effect   = "Allow"
      Action   = ["kms:Decrypt"]
      Resource = [key]
    }
  ]

  # Which service may take on a role of this module, on behalf of this account alone.
  trust = {
    for service in ["lambda", "ecs-tasks", "scheduler"] : service => jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect    = "Allow"
        Action    = "sts:AssumeRole"
        Principal = { Service = "${service}.amazonaws.com" }
        Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
      }]
    })
  }
}

resource "aws_iam_role" "controller" {
  name               = "${var.name}-controller"
  description        = "The tidegate controller ${var.name}: reads queues, sets desired counts."
  tags               = var.tags
  assume_role_policy = local.trust[local.is_lambda ? "lambda" : "ecs-tasks"]
}

resource "aws_iam_role_policy" "controller" {
  name = "controller"
  role = aws_iam_role.controller.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(local.controller_statements, local.is_lambda ? local.log_statements : [], local.key_statements)
  })
}
