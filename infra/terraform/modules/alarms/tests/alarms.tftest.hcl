# Never the real provider: these tests apply what they assert on.
mock_provider "aws" {
  source = "../../tests/mocks"
}

variables {
  pool                   = "orders"
  dead_letter_queue_name = "orders-dead"
}

run "all_alarms_of_the_source_are_made" {
  assert {
    condition = toset(keys(aws_cloudwatch_metric_alarm.this)) == toset([
      for alarm in jsondecode(file("${path.module}/../../../observability/pool.json")).alarms : alarm.id
    ])
    error_message = "the alarms are not those of infra/observability/pool.json"
  }

  assert {
    condition     = alltrue([for alarm in aws_cloudwatch_metric_alarm.this : length(alarm.alarm_description) > 100])
    error_message = "an alarm does not say what to do"
  }
}

run "names_dimensions_and_thresholds_are_the_pools_own" {
  variables {
    late_share_objective = 0.02
    alarm_actions        = ["arn:aws:sns:us-east-1:123456789012:pager"]
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["late_share"].alarm_name == "tidegate-orders-late-share"
    error_message = "wrong name"
  }
  assert {
    condition     = aws_cloudwatch_metric_alarm.this["late_share"].threshold == 0.02
    error_message = "the objective is not the threshold"
  }
  assert {
    condition     = aws_cloudwatch_metric_alarm.this["oldest_over_target"].dimensions == tomap({ Pool = "orders" })
    error_message = "wrong dimension"
  }
  assert {
    condition = toset([for query in aws_cloudwatch_metric_alarm.this["late_share"].metric_query : query.id]) == toset(
      ["started", "late", "value"]
    )
    error_message = "an expression without its series"
  }
  assert {
    condition = [
      for query in aws_cloudwatch_metric_alarm.this["dead_letter_arrivals"].metric_query :
      query.metric[0].dimensions.QueueName if length(query.metric) > 0
    ] == ["orders-dead", "orders-dead"]
    error_message = "the dead-letter alarm looks at another queue"
  }
  assert {
    condition     = aws_cloudwatch_metric_alarm.this["at_ceiling"].ok_actions == toset(["arn:aws:sns:us-east-1:123456789012:pager"])
    error_message = "nobody is told when it is over"
  }
}

run "the_dashboard_is_drawn_from_the_same_series" {
  assert {
    condition     = length(jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets) == 8
    error_message = "widgets are missing"
  }
  assert {
    condition     = jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets[0].properties.metrics[0][3] == "orders"
    error_message = "a line without its pool"
  }
}

run "without_a_dead_letter_queue_nothing_looks_at_one" {
  variables {
    dead_letter_queue_name = null
  }

  assert {
    condition     = !contains(keys(aws_cloudwatch_metric_alarm.this), "dead_letter_arrivals")
    error_message = "an alarm on a queue that is not there"
  }
  assert {
    condition     = length(jsondecode(aws_cloudwatch_dashboard.this.dashboard_body).widgets) == 7
    error_message = "a widget on a queue that is not there"
  }
}

run "alarms_can_be_left_out" {
  variables {
    left_out = ["scale_events"]
  }

  assert {
    condition     = length(aws_cloudwatch_metric_alarm.this) == 8 && !contains(keys(aws_cloudwatch_metric_alarm.this), "scale_events")
    error_message = "it was not left out"
  }
}

# Every validation at once: each variable below has a value that it must refuse.
run "refuses_every_wrong_value" {
  command = plan
  variables {
    pool                    = "my orders"
    namespace               = "AWS/SQS"
    dead_letter_queue_name  = "arn:aws:sqs:us-east-1:123456789012:dead"
    late_share_objective    = 1
    scale_events_per_minute = 0
    alarm_actions           = ["pager"]
    left_out                = ["cpu"]
    tags                    = { "aws:x" = "y" }
  }
  expect_failures = [
    var.pool, var.namespace, var.dead_letter_queue_name, var.late_share_objective, var.scale_events_per_minute,
    var.alarm_actions, var.left_out, var.tags,
  ]
}
