# The queue is in another account: its policy lets the controller and the workers of this one in, and that account shares the
# queue's metrics with this one.
terraform {
  required_version = ">= 1.5.7"
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 6.28" }
  }
}

# Controller and workers.
provider "aws" {
  region = "eu-central-1"
}

# The queue's owner.
provider "aws" {
  alias  = "owner"
  region = "eu-west-1"

  assume_role {
    role_arn = var.owner_role_arn
  }
}

variable "owner_role_arn" {
  description = "A role in the queue's account that may set the queue's policy."
  type        = string
}

variable "cluster_arn" {
  description = "The workers' ECS cluster."
  type        = string
}

variable "service_arn" {
  description = "The workers' ECS service."
  type        = string
}

variable "worker_role_arn" {
  description = "The workers' task role."
  type        = string
}

module "tidegate" {
  source = "../.."

  package_file = "${path.module}/../../../../lambda/dist/tidegate-aarch64-python3.13.zip"
  pools        = { invoices = module.invoices.pool }
}

module "invoices" {
  source = "../../modules/pool"

  name                 = "invoices"
  table_arn            = module.tidegate.table_arn
  queue_arn            = aws_sqs_queue.invoices.arn
  target_wait          = "2m"
  max_workers          = 20
  ecs                  = { cluster_arn = var.cluster_arn, service_arn = var.service_arn }
  worker_role_name     = split("/", var.worker_role_arn)[1]
  attach_worker_policy = true
}

resource "aws_sqs_queue" "invoices" {
  provider = aws.owner

  name                    = "invoices"
  sqs_managed_sse_enabled = true
}

resource "aws_sqs_queue_policy" "invoices" {
  provider = aws.owner

  queue_url = aws_sqs_queue.invoices.id
  policy    = data.aws_iam_policy_document.invoices.json
}

# Both sides must allow: this policy, and those of the roles, which the modules make.
data "aws_iam_policy_document" "invoices" {
  statement {
    sid       = "TheControllerCounts"
    actions   = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
    resources = [aws_sqs_queue.invoices.arn]
    principals {
      type        = "AWS"
      identifiers = [module.tidegate.role_arn]
    }
  }

  statement {
    sid = "TheWorkersWork"
    actions = [
      "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage",
    ]
    resources = [aws_sqs_queue.invoices.arn]
    principals {
      type        = "AWS"
      identifiers = [var.worker_role_arn]
    }
  }
}

# Where the other account's metrics are to be seen: the controller's account, in the queue's Region. An account has one sink
# in each Region: if there is one already, link to that and leave these two out.
resource "aws_oam_sink" "metrics" {
  name   = "metrics"
  region = "eu-west-1"
}

resource "aws_oam_sink_policy" "metrics" {
  region          = "eu-west-1"
  sink_identifier = aws_oam_sink.metrics.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = [split(":", var.owner_role_arn)[4]] }
      Action    = ["oam:CreateLink", "oam:UpdateLink"]
      Resource  = "*"
      Condition = { "ForAllValues:StringEquals" = { "oam:ResourceTypes" = ["AWS::CloudWatch::Metric"] } }
    }]
  })
}

# The role of the provider "owner" needs oam:CreateLink and cloudwatch:Link for it.
resource "aws_oam_link" "metrics" {
  provider = aws.owner

  label_template  = "$AccountName"
  resource_types  = ["AWS::CloudWatch::Metric"]
  sink_identifier = aws_oam_sink.metrics.arn

  link_configuration {
    metric_configuration {
      filter = "Namespace IN ('AWS/SQS')"
    }
  }

  depends_on = [aws_oam_sink_policy.metrics]
}
