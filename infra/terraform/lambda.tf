# The controller as a function that a schedule calls once a minute.
resource "aws_lambda_function" "this" {
  count = local.is_lambda ? 1 : 0

  function_name = var.name
  description   = "tidegate: sets the desired counts of ${length(var.pools)} pools."
  role          = aws_iam_role.controller.arn
  handler       = "tidegate.entrypoints.lambda_handler.handler"
  runtime       = var.runtime
  architectures = [var.architecture]
  memory_size   = var.memory_size
  tags          = var.tags

  # A minute of ticks, and two endpoints that never answer after it.
  timeout = 90

  # One at a time: the next minute is the retry.
  reserved_concurrent_executions = 1

  filename          = var.package_file
  source_code_hash  = var.package_file == null ? null : filebase64sha256(var.package_file)
  s3_bucket         = try(var.package_s3.bucket, null)
  s3_key            = try(var.package_s3.key, null)
  s3_object_version = try(var.package_s3.version, null)

  environment {
    variables = { TIDEGATE_CONFIG = local.settings_source }
  }

  # Text: the lines are JSON already, and CloudWatch Logs finds the metrics in those that are exactly as they were written.
  logging_config {
    log_format = "Text"
    log_group  = aws_cloudwatch_log_group.this.name
  }

  lifecycle {
    precondition {
      condition     = (var.package_file == null) != (var.package_s3 == null)
      error_message = "Set exactly one of package_file and package_s3: the function's zip (make lambda)."
    }
  }

  depends_on = [aws_iam_role_policy.controller]
}

# What the schedule could not deliver, or the function failed at, is never tried again: the next minute is the retry.
resource "aws_lambda_function_event_invoke_config" "this" {
  count = local.is_lambda ? 1 : 0

  function_name                = aws_lambda_function.this[0].function_name
  maximum_retry_attempts       = 0
  maximum_event_age_in_seconds = 60
}

resource "aws_scheduler_schedule" "this" {
  count = local.is_lambda ? 1 : 0

  name                = var.name
  description         = "Calls the tidegate controller once a minute."
  schedule_expression = "rate(1 minute)"
  kms_key_arn         = var.kms_key_arn

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = aws_lambda_function.this[0].arn
    role_arn = aws_iam_role.schedule[0].arn

    retry_policy {
      maximum_retry_attempts       = 0
      maximum_event_age_in_seconds = 60
    }
  }
}

resource "aws_iam_role" "schedule" {
  count = local.is_lambda ? 1 : 0

  name               = "${var.name}-schedule"
  description        = "Lets the schedule call the tidegate controller ${var.name}."
  tags               = var.tags
  assume_role_policy = local.trust["scheduler"]
}

resource "aws_iam_role_policy" "schedule" {
  count = local.is_lambda ? 1 : 0

  name = "schedule"
  role = aws_iam_role.schedule[0].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for statement in jsondecode(file("${path.module}/../iam/schedule.json")).Statement :
      merge(statement, { Resource = [aws_lambda_function.this[0].arn] })
    ]
  })
}
