# The controller as a function; one pool of ECS tasks on Fargate with a queue of its own.
terraform {
  required_version = ">= 1.5.7"
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 6.28" }
  }
}

provider "aws" {
  region = "eu-central-1"
}

variable "subnets" {
  description = "Subnets of the workers, with a way to AWS's APIs."
  type        = list(string)
}

variable "security_groups" {
  description = "Security groups of the workers."
  type        = list(string)
}

variable "worker_image" {
  description = "Image of the workers: your handler with tidegate installed."
  type        = string
}

variable "alarm_topic_arn" {
  description = "SNS topic that is told of alarms."
  type        = string
}

module "tidegate" {
  source = "../.."

  package_file = "${path.module}/../../../../lambda/dist/tidegate-aarch64-python3.13.zip"
  pools        = { orders = module.orders.pool }
}

module "orders" {
  source = "../../modules/pool"

  name             = "orders"
  table_arn        = module.tidegate.table_arn
  target_wait      = "30s"
  max_workers      = 50
  slots_per_worker = 4
  ecs = {
    cluster_arn = aws_ecs_cluster.this.arn
    service_arn = aws_ecs_service.orders.id
  }
  worker_role_name     = aws_iam_role.worker.name
  attach_worker_policy = true
  alarm_actions        = [var.alarm_topic_arn]
}

resource "aws_ecs_cluster" "this" {
  name = "prod"
}

resource "aws_ecs_task_definition" "orders" {
  family                   = "orders"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = 512
  memory                   = 1024
  task_role_arn            = aws_iam_role.worker.arn
  execution_role_arn       = aws_iam_role.execution.arn

  container_definitions = jsonencode([{
    name        = "worker"
    image       = var.worker_image
    command     = ["tidegate", "work", "shop.jobs:handle"]
    essential   = true
    stopTimeout = 120

    readonlyRootFilesystem = true
    environment            = [for name, value in module.orders.worker_environment : { name = name, value = value }]
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.orders.name
        awslogs-region        = "eu-central-1"
        awslogs-stream-prefix = "worker"
      }
    }
  }])
}

resource "aws_ecs_service" "orders" {
  name            = "orders"
  cluster         = aws_ecs_cluster.this.arn
  task_definition = aws_ecs_task_definition.orders.arn
  desired_count   = 1
  launch_type     = "FARGATE"

  network_configuration {
    subnets         = var.subnets
    security_groups = var.security_groups
  }

  # tidegate sets it from now on. Without this each apply would set it back to 1, in the middle of the work.
  lifecycle {
    ignore_changes = [desired_count]
  }
}

resource "aws_cloudwatch_log_group" "orders" {
  name              = "/ecs/orders"
  retention_in_days = 30
}

resource "aws_iam_role" "worker" {
  name               = "orders-worker"
  assume_role_policy = data.aws_iam_policy_document.ecs_tasks.json
}

resource "aws_iam_role" "execution" {
  name               = "orders-execution"
  assume_role_policy = data.aws_iam_policy_document.ecs_tasks.json
}

resource "aws_iam_role_policy_attachment" "execution" {
  role       = aws_iam_role.execution.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
}

data "aws_iam_policy_document" "ecs_tasks" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ecs-tasks.amazonaws.com"]
    }
  }
}
