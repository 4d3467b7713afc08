# Never the real provider: these tests apply what they assert on.
mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  package_s3 = { bucket = "artifacts", key = "tidegate-aarch64-python3.13.zip" }
  pools = {
    orders = {
      settings    = "{\"queue\":\"arn:aws:sqs:us-east-1:123456789012:orders\",\"target_wait\":\"30s\",\"max_workers\":20}"
      queue_arn   = "arn:aws:sqs:us-east-1:123456789012:orders"
      service_arn = "arn:aws:ecs:us-east-1:123456789012:service/prod/orders"
    }
  }
}

run "the_function_is_called_once_a_minute_one_at_a_time_and_never_late" {
  assert {
    condition     = aws_scheduler_schedule.this[0].schedule_expression == "rate(1 minute)" && aws_scheduler_schedule.this[0].flexible_time_window[0].mode == "OFF"
    error_message = "the schedule is not once a minute"
  }
  assert {
    condition     = aws_scheduler_schedule.this[0].target[0].retry_policy[0] == { maximum_retry_attempts = 0, maximum_event_age_in_seconds = 60 }
    error_message = "a late retry could act"
  }
  assert {
    condition     = aws_lambda_function_event_invoke_config.this[0].maximum_retry_attempts == 0 && aws_lambda_function_event_invoke_config.this[0].maximum_event_age_in_seconds == 60
    error_message = "a late retry could act"
  }
  assert {
    condition     = aws_lambda_function.this[0].reserved_concurrent_executions == 1
    error_message = "two could run at once"
  }
  assert {
    condition     = aws_scheduler_schedule.this[0].target[0].arn == aws_lambda_function.this[0].arn && aws_scheduler_schedule.this[0].target[0].role_arn == aws_iam_role.schedule[0].arn
    error_message = "the schedule calls something else"
  }
  assert {
    condition     = jsondecode(aws_iam_role_policy.schedule[0].policy).Statement[0].Resource == [aws_lambda_function.this[0].arn]
    error_message = "the schedule may call more than the function"
  }
}

run "the_function_is_the_handler_with_a_log_of_its_own_and_the_settings" {
  assert {
    condition     = aws_lambda_function.this[0].handler == "tidegate.entrypoints.lambda_handler.handler" && aws_lambda_function.this[0].runtime == "python3.13"
    error_message = "another handler"
  }
  assert {
    condition     = aws_lambda_function.this[0].logging_config[0].log_group == aws_cloudwatch_log_group.this.name && aws_cloudwatch_log_group.this.retention_in_days == 30
    error_message = "the log would be kept for ever"
  }
  assert {
    condition     = startswith(aws_lambda_function.this[0].environment[0].variables.TIDEGATE_CONFIG, "ssm:/tidegate/settings:")
    error_message = "a change of the settings would not be read"
  }
  assert {
    condition = { for key, value in jsondecode(output.settings) : key => value if key != "pools" } == {
      table = aws_dynamodb_table.this.arn, tick = "10s", namespace = "tidegate", publish = "log", ticks_per_invocation = 6
    }
    error_message = "the settings are not those of a function"
  }
  assert {
    condition     = jsondecode(output.settings).pools.orders.target_wait == "30s"
    error_message = "the pool is not in the settings"
  }
}

run "the_table_is_as_the_code_expects_it" {
  assert {
    condition     = aws_dynamodb_table.this.hash_key == "pk" && aws_dynamodb_table.this.range_key == "sk" && aws_dynamodb_table.this.ttl[0].attribute_name == "expires_at"
    error_message = "another key"
  }
  assert {
    condition     = aws_dynamodb_table.this.billing_mode == "PAY_PER_REQUEST" && aws_dynamodb_table.this.point_in_time_recovery[0].enabled && aws_dynamodb_table.this.deletion_protection_enabled
    error_message = "what was learned is not safe"
  }
}

run "the_controller_may_do_exactly_this" {
  assert {
    condition = { for one in jsondecode(output.policy_json).Statement : one.Sid => flatten([one.Action]) } == {
      ReadSettingsFromParameter          = ["ssm:GetParameter"]
      ReadQueueCounts                    = ["sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
      ReadMetricsWhichHaveNoResourceType = ["cloudwatch:GetMetricData"]
      ScaleTheService                    = ["ecs:DescribeServices", "ecs:UpdateService"]
      KeepStateAndReadHeartbeats         = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]
      WriteItsOwnLog                     = ["logs:CreateLogStream", "logs:PutLogEvents"]
    }
    error_message = "the controller's actions have changed"
  }
  assert {
    condition     = [for one in jsondecode(output.policy_json).Statement : one.Sid if contains(one.Resource, "*")] == ["ReadMetricsWhichHaveNoResourceType"]
    error_message = "a * where IAM has a resource type"
  }
  assert {
    condition = { for one in jsondecode(output.policy_json).Statement : one.Sid => one.Resource if contains(["ReadQueueCounts", "ScaleTheService"], one.Sid) } == {
      ReadQueueCounts = ["arn:aws:sqs:us-east-1:123456789012:orders"]
      ScaleTheService = ["arn:aws:ecs:us-east-1:123456789012:service/prod/orders"]
    }
    error_message = "it is about another pool"
  }
  assert {
    condition     = jsondecode(aws_iam_role.controller.assume_role_policy).Statement[0].Principal.Service == "lambda.amazonaws.com"
    error_message = "something else could be the controller"
  }
}

run "a_pool_on_a_group_adds_what_groups_need" {
  variables {
    pools = {
      thumbnails = {
        settings          = "{\"hold_on_alarms\":[\"database\"]}"
        queue_arn         = "arn:aws:sqs:eu-west-1:210987654321:thumbnails"
        autoscaling_group = "thumbnail-workers"
      }
    }
  }

  assert {
    condition = { for one in jsondecode(output.policy_json).Statement : one.Sid => one.Resource if strcontains(one.Sid, "Group") || strcontains(one.Sid, "Service") } == {
      ReadGroupsWhichHaveNoResourceType = ["*"]
      ScaleTheGroup                     = ["arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:*:autoScalingGroupName/thumbnail-workers"]
    }
    error_message = "a group is read and set by its name, and no service is touched"
  }
  assert {
    condition     = contains([for one in jsondecode(output.policy_json).Statement : one.Sid], "ReadTheAlarmsThatHoldPools")
    error_message = "it can't read the alarm that holds the pool"
  }
}

run "a_key_of_ones_own_encrypts_everything" {
  variables {
    kms_key_arn = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  }

  assert {
    condition     = aws_ssm_parameter.settings.type == "SecureString" && aws_cloudwatch_log_group.this.kms_key_id == var.kms_key_arn && aws_dynamodb_table.this.server_side_encryption[0].kms_key_arn == var.kms_key_arn
    error_message = "something is encrypted otherwise"
  }
  assert {
    condition     = contains([for one in jsondecode(output.policy_json).Statement : one.Sid], "ReadWhatIsEncryptedWithTheKey")
    error_message = "the controller can't read its settings"
  }
}

run "a_slower_tick_is_made_fewer_times" {
  variables {
    tick = "60s"
  }

  assert {
    condition     = jsondecode(output.settings).ticks_per_invocation == 1
    error_message = "more ticks than fit into a minute"
  }
}

run "refuses_no_package" {
  command = plan
  variables {
    package_s3 = null
  }
  expect_failures = [aws_lambda_function.this]
}
