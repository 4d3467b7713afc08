# The controller as a task that always runs.
locals {
  health_file = "/run/tidegate/health.json"

  # What is known of the container before anything is made.
  container = {
    name                   = "controller"
    command                = ["tidegate", "run"]
    essential              = true
    readonlyRootFilesystem = true
    stopTimeout            = 30
    mountPoints            = [{ sourceVolume = "health", containerPath = "/run/tidegate", readOnly = false }]
    healthCheck            = { command = ["CMD", "tidegate", "health"], interval = 30, timeout = 5, retries = 3, startPeriod = 60 }
  }

  image_repository = compact([try(var.ecs.image_repository_arn, null)])
  execution_resources = {
    PullTheImage                              = local.image_repository
    SignInToTheRegistryWhichHasNoResourceType = length(local.image_repository) > 0 ? ["*"] : []
  }

  # What ECS itself needs to start the task: its log, and the image where that is in a private repository.
  execution_statements = concat(local.log_statements, [
    for statement in jsondecode(file("${path.module}/../iam/execution.json")).Statement :
    merge(statement, { Resource = local.execution_resources[statement.Sid] })
    if length(local.execution_resources[statement.Sid]) > 0
  ])
}

resource "aws_ecs_task_definition" "this" {
  count = local.is_lambda ? 0 : 1

  family                   = var.name
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = try(var.ecs.cpu, 256)
  memory                   = try(var.ecs.memory, 512)
  task_role_arn            = aws_iam_role.controller.arn
  execution_role_arn       = aws_iam_role.execution[0].arn
  tags                     = var.tags

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = upper(var.architecture)
  }

  # Where it says at each tick how it is; the rest of its disk is read-only.
  volume {
    name = "health"
  }

  container_definitions = jsonencode([merge(local.container, {
    image = try(var.ecs.image, "")
    environment = [
      { name = "TIDEGATE_CONFIG", value = local.settings_source },
      { name = "TIDEGATE_HEALTH_FILE", value = local.health_file },
    ]
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this.name
        awslogs-region        = data.aws_region.current.region
        awslogs-stream-prefix = "controller"
      }
    }
  })])

  lifecycle {
    precondition {
      condition     = var.ecs != null
      error_message = "controller = \"ecs\" needs ecs: the cluster, the image and the network of its task."
    }
  }
}

# One at a time: the old one stops before the new one starts. Two would do no harm, one of them would only stand by.
resource "aws_ecs_service" "this" {
  count = local.is_lambda ? 0 : 1

  name                               = var.name
  cluster                            = try(var.ecs.cluster_arn, null)
  task_definition                    = aws_ecs_task_definition.this[0].arn
  desired_count                      = 1
  launch_type                        = "FARGATE"
  deployment_minimum_healthy_percent = 0
  deployment_maximum_percent         = 100
  propagate_tags                     = "SERVICE"
  tags                               = var.tags

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = try(var.ecs.subnets, [])
    security_groups  = try(var.ecs.security_groups, [])
    assign_public_ip = try(var.ecs.assign_public_ip, false)
  }

  depends_on = [aws_iam_role_policy.controller, aws_iam_role_policy.execution]
}

resource "aws_iam_role" "execution" {
  count = local.is_lambda ? 0 : 1

  name               = "${var.name}-execution"
  description        = "Lets ECS start the tidegate controller ${var.name}."
  tags               = var.tags
  assume_role_policy = local.trust["ecs-tasks"]
}

resource "aws_iam_role_policy" "execution" {
  count = local.is_lambda ? 0 : 1

  name   = "execution"
  role   = aws_iam_role.execution[0].id
  policy = jsonencode({ Version = "2012-10-17", Statement = local.execution_statements })
}
