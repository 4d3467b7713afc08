# Never the real provider: these tests apply what they assert on.
mock_provider "aws" {
  source = "../../tests/mocks"
}

variables {
  name        = "orders"
  table_arn   = "arn:aws:dynamodb:us-east-1:123456789012:table/tidegate"
  target_wait = "30s"
  max_workers = 20
  ecs = {
    cluster_arn = "arn:aws:ecs:us-east-1:123456789012:cluster/prod"
    service_arn = "arn:aws:ecs:us-east-1:123456789012:service/prod/orders"
  }
}

run "a_queue_with_its_dead_letter_queue_is_made" {
  assert {
    condition     = jsondecode(aws_sqs_queue.this[0].redrive_policy) == { deadLetterTargetArn = aws_sqs_queue.dead_letters[0].arn, maxReceiveCount = 5 }
    error_message = "the queue does not lead to its dead-letter queue"
  }
  assert {
    condition     = jsondecode(aws_sqs_queue_redrive_allow_policy.dead_letters[0].redrive_allow_policy).sourceQueueArns == [aws_sqs_queue.this[0].arn]
    error_message = "another queue could use the dead-letter queue"
  }
  assert {
    condition     = aws_sqs_queue.this[0].sqs_managed_sse_enabled && aws_sqs_queue.dead_letters[0].sqs_managed_sse_enabled
    error_message = "not encrypted"
  }
  assert {
    condition     = aws_sqs_queue.dead_letters[0].message_retention_seconds == 1209600
    error_message = "dead letters could expire early"
  }
  assert {
    condition = toset(keys(aws_sqs_queue_policy.tls_only)) == toset(["queue", "dead_letters"]) && alltrue([
      for one in aws_sqs_queue_policy.tls_only :
      jsondecode(one.policy).Statement[0].Effect == "Deny" && jsondecode(one.policy).Statement[0].Condition == { Bool = { "aws:SecureTransport" = "false" } }
    ])
    error_message = "a queue takes what does not come over TLS"
  }
}

run "others_may_use_the_queue_as_its_policy_says" {
  variables {
    queue_policy_statements = jsonencode([{
      Effect    = "Allow"
      Principal = { Service = "sns.amazonaws.com" }
      Action    = "sqs:SendMessage"
      Condition = { ArnEquals = { "aws:SourceArn" = "arn:aws:sns:us-east-1:123456789012:orders" } }
    }])
  }

  assert {
    condition = [for one in jsondecode(aws_sqs_queue_policy.tls_only["queue"].policy).Statement : one.Effect] == ["Deny", "Allow"] && alltrue([
      for one in jsondecode(aws_sqs_queue_policy.tls_only["queue"].policy).Statement : one.Resource == aws_sqs_queue.this[0].arn
    ])
    error_message = "the topic may not send, or not to this queue"
  }
  assert {
    condition     = length(jsondecode(aws_sqs_queue_policy.tls_only["dead_letters"].policy).Statement) == 1
    error_message = "the topic may send dead letters"
  }
}

run "the_worker_may_do_exactly_this" {
  assert {
    condition = { for one in jsondecode(output.worker_policy_json).Statement : one.Sid => flatten([one.Action]) } == {
      WorkOnTheQueue            = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
      FindTheQueues             = ["sqs:GetQueueUrl"]
      PutDeadLetters            = ["sqs:SendMessage"]
      BeSparedInScaleIn         = ["ecs:GetTaskProtection", "ecs:UpdateTaskProtection"]
      ReportToTheFleet          = ["dynamodb:PutItem"]
      HearTheController         = ["dynamodb:GetItem"]
      NoteWhatBecomesOfMessages = ["dynamodb:GetItem", "dynamodb:UpdateItem"]
      HoldPermits               = ["dynamodb:GetItem", "dynamodb:PutItem"]
    }
    error_message = "the worker's actions have changed"
  }
  assert {
    condition     = length([for one in jsondecode(output.worker_policy_json).Statement : one if contains(one.Resource, "*")]) == 0
    error_message = "a worker needs no *"
  }
  assert {
    condition = [
      for one in jsondecode(output.worker_policy_json).Statement : one.Condition["ForAllValues:StringEquals"]["dynamodb:LeadingKeys"]
      if one.Sid == "ReportToTheFleet"
    ] == [["pool#orders#workers"]]
    error_message = "a worker could write what is not its report"
  }
  assert {
    condition = { for one in jsondecode(output.worker_policy_json).Statement : one.Sid => one.Resource if contains(["WorkOnTheQueue", "BeSparedInScaleIn"], one.Sid) } == {
      WorkOnTheQueue    = [output.queue_arn]
      BeSparedInScaleIn = ["arn:aws:ecs:us-east-1:123456789012:task/prod/*"]
    }
    error_message = "the policy is about another queue or cluster"
  }
}

run "the_controller_is_told_what_it_needs" {
  variables {
    more_settings = "{\"policy\": \"wait\", \"hold\": \"2m\"}"
  }

  assert {
    condition = jsondecode(output.pool.settings) == {
      queue            = output.queue_arn
      target_wait      = "30s"
      min_workers      = 1
      max_workers      = 20
      slots_per_worker = 1
      policy           = "wait"
      hold             = "2m"
      ecs = {
        cluster = "arn:aws:ecs:us-east-1:123456789012:cluster/prod"
        service = "arn:aws:ecs:us-east-1:123456789012:service/prod/orders"
      }
    }
    error_message = "the settings are not the pool's"
  }
  assert {
    condition     = output.pool.service_arn == "arn:aws:ecs:us-east-1:123456789012:service/prod/orders"
    error_message = "the controller is not told which service it may scale"
  }
  assert {
    condition     = output.worker_environment.TIDEGATE_WORKER_TABLE == "arn:aws:dynamodb:us-east-1:123456789012:table/tidegate"
    error_message = "workers don't know where to report"
  }
}

run "an_existing_queue_of_another_account_is_used_as_it_is" {
  variables {
    queue_arn             = "arn:aws:sqs:eu-west-1:210987654321:orders.fifo"
    dead_letter_queue_arn = "arn:aws:sqs:eu-west-1:210987654321:orders-dead.fifo"
  }

  assert {
    condition     = length(aws_sqs_queue.this) == 0 && length(aws_sqs_queue.dead_letters) == 0 && length(aws_sqs_queue_policy.tls_only) == 0 && output.queue_url == null
    error_message = "a queue was made though one exists"
  }
  assert {
    condition     = output.worker_environment.TIDEGATE_WORKER_QUEUE == "arn:aws:sqs:eu-west-1:210987654321:orders.fifo"
    error_message = "workers would look for the queue in the wrong account"
  }
  assert {
    condition     = !contains(keys(output.alarm_arns), "dead_letter_arrivals")
    error_message = "a queue of that name in this account would be watched instead"
  }
  assert {
    condition     = strcontains(output.worker_policy_json, "arn:aws:sqs:eu-west-1:210987654321:orders-dead.fifo")
    error_message = "workers may not send dead letters"
  }
}

run "a_dead_letter_queue_of_this_account_is_watched" {
  variables {
    queue_arn             = "arn:aws:sqs:us-east-1:123456789012:orders"
    dead_letter_queue_arn = "arn:aws:sqs:us-east-1:123456789012:orders-dead"
  }

  assert {
    condition     = contains(keys(output.alarm_arns), "dead_letter_arrivals")
    error_message = "the dead-letter queue is not watched"
  }
}

run "without_a_dead_letter_queue_workers_may_send_nothing" {
  variables {
    queue_arn = "arn:aws:sqs:us-east-1:123456789012:orders"
  }

  assert {
    condition     = !strcontains(output.worker_policy_json, "sqs:SendMessage") && !contains(keys(output.alarm_arns), "dead_letter_arrivals")
    error_message = "something is left of a dead-letter queue"
  }
}

run "workers_without_the_sdk_need_no_table" {
  variables {
    table_arn = null
  }

  assert {
    condition     = !strcontains(output.worker_policy_json, "dynamodb:") && !contains(keys(output.worker_environment), "TIDEGATE_WORKER_TABLE")
    error_message = "something is left of the table"
  }
}

run "a_key_of_ones_own_may_be_used_through_sqs_only" {
  variables {
    kms_key_arn = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  }

  assert {
    condition = [
      for one in jsondecode(output.worker_policy_json).Statement : one.Condition.StringEquals["kms:ViaService"]
      if one.Sid == "ReadAndMoveEncryptedMessages"
    ] == ["sqs.us-east-1.amazonaws.com"]
    error_message = "the key could be used for anything"
  }
  assert {
    condition     = aws_sqs_queue.this[0].kms_master_key_id == var.kms_key_arn
    error_message = "the queue has another key"
  }
}

run "a_group_is_scaled_instead_of_a_service_and_the_policy_attached" {
  variables {
    ecs                  = null
    autoscaling_group    = "orders-workers"
    worker_role_name     = "orders-worker"
    attach_worker_policy = true
    fifo                 = true
  }

  assert {
    condition     = jsondecode(output.pool.settings).asg == "orders-workers" && !can(jsondecode(output.pool.settings).ecs)
    error_message = "the group is not what is scaled"
  }
  assert {
    condition = { for one in jsondecode(output.worker_policy_json).Statement : one.Sid => one.Resource if startswith(one.Sid, "BeSpared") } == {
      BeSparedAndWaitedForInTheGroup = ["arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:*:autoScalingGroupName/orders-workers"]
    }
    error_message = "its instances can't be protected, or others can"
  }
  assert {
    condition     = aws_iam_role_policy_attachment.worker[0].role == "orders-worker"
    error_message = "the policy is not attached"
  }
  assert {
    condition     = aws_sqs_queue.this[0].name == "orders.fifo" && aws_sqs_queue.dead_letters[0].name == "orders-dead.fifo"
    error_message = "a FIFO queue's name must end with .fifo"
  }
}

run "refuses_both_kinds_of_capacity" {
  command = plan
  variables {
    autoscaling_group = "orders-workers"
  }
  expect_failures = [aws_iam_policy.worker]
}

run "refuses_a_minimum_above_the_maximum" {
  command = plan
  variables {
    min_workers = 30
  }
  expect_failures = [aws_iam_policy.worker]
}

run "refuses_no_objective" {
  command = plan
  variables {
    target_wait = null
  }
  expect_failures = [aws_iam_policy.worker]
}

run "refuses_a_foreign_dead_letter_queue_for_a_queue_that_it_makes" {
  command = plan
  variables {
    dead_letter_queue_arn = "arn:aws:sqs:us-east-1:123456789012:dead"
  }
  expect_failures = [aws_sqs_queue.this]
}

run "alarms_that_are_not_wanted_are_left_out" {
  variables {
    left_out = ["scale_events"]
  }

  assert {
    condition     = !contains(keys(output.alarm_arns), "scale_events") && contains(keys(output.alarm_arns), "late_share")
    error_message = "another alarm was left out"
  }
}
