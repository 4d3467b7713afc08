# Never the real provider: these tests apply what they assert on.
mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  controller = "ecs"
  ecs = {
    cluster_arn          = "arn:aws:ecs:us-east-1:123456789012:cluster/prod"
    image                = "123456789012.dkr.ecr.us-east-1.amazonaws.com/tidegate:1"
    image_repository_arn = "arn:aws:ecr:us-east-1:123456789012:repository/tidegate"
    subnets              = ["subnet-1"]
    security_groups      = ["sg-1"]
  }
  pools = {
    orders = {
      settings    = "{}"
      queue_arn   = "arn:aws:sqs:us-east-1:123456789012:orders"
      service_arn = "arn:aws:ecs:us-east-1:123456789012:service/prod/orders"
    }
  }
}

run "one_task_runs_and_none_of_the_function_is_made" {
  assert {
    condition     = aws_ecs_service.this[0].desired_count == 1 && aws_ecs_service.this[0].deployment_maximum_percent == 100 && aws_ecs_service.this[0].deployment_minimum_healthy_percent == 0
    error_message = "two controllers could run at once"
  }
  assert {
    condition     = length(aws_lambda_function.this) == 0 && length(aws_scheduler_schedule.this) == 0 && length(aws_iam_role.schedule) == 0
    error_message = "something of the function is there"
  }
  assert {
    condition = alltrue([
      for container in jsondecode(aws_ecs_task_definition.this[0].container_definitions) :
      container.readonlyRootFilesystem && container.command == ["tidegate", "run"] && contains([for one in container.environment : one.value if one.name == "TIDEGATE_CONFIG"], output.settings_source) && container.healthCheck.command == ["CMD", "tidegate", "health"]
    ])
    error_message = "the task does not run the controller with its settings"
  }
  assert {
    condition = alltrue([
      for container in jsondecode(aws_ecs_task_definition.this[0].container_definitions) :
      [for mount in container.mountPoints : mount.sourceVolume] == [for volume in aws_ecs_task_definition.this[0].volume : volume.name] &&
      alltrue([for one in container.environment : startswith(one.value, "${container.mountPoints[0].containerPath}/") if one.name == "TIDEGATE_HEALTH_FILE"])
    ])
    error_message = "it could not write the file that its health check reads"
  }
  assert {
    condition     = aws_ecs_task_definition.this[0].task_role_arn == aws_iam_role.controller.arn && aws_ecs_task_definition.this[0].execution_role_arn == aws_iam_role.execution[0].arn
    error_message = "wrong roles"
  }
}

run "it_publishes_by_calls_into_its_namespace_only" {
  assert {
    condition     = jsondecode(output.settings).publish == "cloudwatch" && jsondecode(output.settings).ticks_per_invocation == 1
    error_message = "the settings are those of a function"
  }
  assert {
    condition = [
      for one in jsondecode(output.policy_json).Statement : one.Condition.StringEquals["cloudwatch:namespace"]
      if one.Sid == "PublishMetricsIntoOneNamespace"
    ] == ["tidegate"]
    error_message = "it could write any metric"
  }
  assert {
    condition = toset([for one in jsondecode(output.policy_json).Statement : one.Sid if contains(one.Resource, "*")]) == toset(
      ["ReadMetricsWhichHaveNoResourceType", "PublishMetricsIntoOneNamespace"]
    )
    error_message = "a * where IAM has a resource type"
  }
  assert {
    condition     = !contains([for one in jsondecode(output.policy_json).Statement : one.Sid], "WriteItsOwnLog")
    error_message = "ECS writes the log, not the task"
  }
}

run "what_starts_the_task_may_log_and_pull_this_image" {
  assert {
    condition = { for one in jsondecode(aws_iam_role_policy.execution[0].policy).Statement : one.Sid => flatten([one.Action]) } == {
      WriteItsOwnLog                            = ["logs:CreateLogStream", "logs:PutLogEvents"]
      PullTheImage                              = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
      SignInToTheRegistryWhichHasNoResourceType = ["ecr:GetAuthorizationToken"]
    }
    error_message = "the execution role's actions have changed"
  }
}

run "refuses_a_task_without_a_place" {
  command = plan
  variables {
    ecs = null
  }
  expect_failures = [aws_ecs_task_definition.this]
}
