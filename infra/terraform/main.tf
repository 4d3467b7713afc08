# What every controller has: the table, the settings, the log. lambda.tf and ecs.tf hold the two ways to run it.
data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  is_lambda = var.controller == "lambda"
  tick_s    = try(tonumber(trimsuffix(var.tick, "s")), 10)

  settings = jsonencode({
    # By its ARN, which also says whose account this is: queues of others are then told from queues of its own. Known
    # before the table is made.
    table     = "arn:${data.aws_partition.current.partition}:dynamodb:${local.account}:table/${var.name}"
    tick      = var.tick
    namespace = var.namespace
    # In Lambda CloudWatch Logs reads the metrics from the log, without a call.
    publish              = local.is_lambda ? "log" : "cloudwatch"
    ticks_per_invocation = local.is_lambda ? max(1, floor(60 / local.tick_s)) : 1
    pools                = { for name, pool in var.pools : name => jsondecode(pool.settings) }
  })

  # With its version: a change of the settings is a change of the function or the task, which then read them anew.
  settings_source = "ssm:${aws_ssm_parameter.settings.name}:${aws_ssm_parameter.settings.version}"
}

resource "aws_dynamodb_table" "this" {
  name                        = var.name
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "pk"
  range_key                   = "sk"
  deletion_protection_enabled = var.deletion_protection
  tags                        = var.tags

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "sk"
    type = "S"
  }

  # Reports of workers that are gone.
  ttl {
    attribute_name = "expires_at"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = var.kms_key_arn
  }
}

# Intelligent tiering: above 4 KB it becomes an advanced parameter, which costs a few cents a month.
resource "aws_ssm_parameter" "settings" {
  name        = "/${var.name}/settings"
  description = "Settings of the tidegate controller ${var.name}, made by Terraform."
  type        = var.kms_key_arn == null ? "String" : "SecureString"
  tier        = "Intelligent-Tiering"
  key_id      = var.kms_key_arn
  value       = local.settings
  tags        = var.tags

  lifecycle {
    precondition {
      condition     = length(local.settings) <= 8192
      error_message = "The settings are longer than the 8 KB that a parameter holds: split the pools between two controllers."
    }
  }
}

resource "aws_cloudwatch_log_group" "this" {
  name              = local.is_lambda ? "/aws/lambda/${var.name}" : "/ecs/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
  tags              = var.tags
}
