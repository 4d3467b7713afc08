# The controller as an ECS task, for a queue and a service that exist. Nothing of them is changed but the desired count.
terraform {
  required_version = ">= 1.5.7"
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 6.28" }
  }
}

provider "aws" {
  region = "eu-central-1"
}

variable "cluster_arn" {
  description = "The ECS cluster of controller and workers."
  type        = string
}

variable "service_arn" {
  description = "The workers' ECS service. Its desired_count must be under ignore_changes where it is managed."
  type        = string
}

variable "queue_name" {
  description = "The queue."
  type        = string
}

variable "dead_letter_queue_name" {
  description = "Its dead-letter queue."
  type        = string
}

variable "controller_image" {
  description = "Image of the controller, built from infra/docker/Dockerfile."
  type        = string
}

variable "controller_repository_arn" {
  description = "The private repository of that image."
  type        = string
}

variable "subnets" {
  description = "Subnets of the controller, with a way to AWS's APIs."
  type        = list(string)
}

variable "security_groups" {
  description = "Security groups of the controller: it only calls out."
  type        = list(string)
}

data "aws_sqs_queue" "orders" {
  name = var.queue_name
}

data "aws_sqs_queue" "dead_letters" {
  name = var.dead_letter_queue_name
}

module "tidegate" {
  source = "../.."

  controller = "ecs"
  ecs = {
    cluster_arn          = var.cluster_arn
    image                = var.controller_image
    image_repository_arn = var.controller_repository_arn
    subnets              = var.subnets
    security_groups      = var.security_groups
  }
  pools = { orders = module.orders.pool }
}

module "orders" {
  source = "../../modules/pool"

  name                  = "orders"
  queue_arn             = data.aws_sqs_queue.orders.arn
  dead_letter_queue_arn = data.aws_sqs_queue.dead_letters.arn
  target_wait           = "1m"
  max_workers           = 30
  ecs                   = { cluster_arn = var.cluster_arn, service_arn = var.service_arn }

  # These workers don't use tidegate's SDK: no table, and a hint in place of measured times.
  more_settings = jsonencode({ service_time_hint = "800ms" })
}
