variable "name" {
  description = "The pool's name: in the controller's settings, its metrics and alarms, and for a queue that is made here."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$", var.name)) && length(var.name) <= 64
    error_message = "name must be 1 to 64 letters and digits, with single -, _ or . between them."
  }
}

variable "table_arn" {
  description = "ARN of the controller's table (its output table_arn): where workers report. Null: they don't use tidegate's SDK."
  type        = string
  default     = null

  validation {
    condition     = var.table_arn == null || can(regex("^arn:[a-z-]+:dynamodb:[a-z0-9-]+:[0-9]{12}:table/.+$", var.table_arn))
    error_message = "table_arn must be a DynamoDB table's ARN."
  }
}

variable "queue_arn" {
  description = "ARN of a queue that exists, of any account or Region. Null: one is made here, with a dead-letter queue."
  type        = string
  default     = null

  validation {
    condition     = var.queue_arn == null || can(regex("^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}([.]fifo)?$", var.queue_arn))
    error_message = "queue_arn must be a queue's ARN."
  }
}

variable "dead_letter_queue_arn" {
  description = "ARN of the existing queue's dead-letter queue; only with queue_arn. Null: it has none. In another account or Region it is used, and not watched."
  type        = string
  default     = null

  validation {
    condition     = var.dead_letter_queue_arn == null || can(regex("^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}([.]fifo)?$", var.dead_letter_queue_arn))
    error_message = "dead_letter_queue_arn must be a queue's ARN."
  }
}

variable "kms_key_arn" {
  description = "ARN of the KMS key that the queue is encrypted with. Null: SQS's own key (SSE-SQS)."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null || can(regex("^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/.+$", var.kms_key_arn))
    error_message = "kms_key_arn must be a key's ARN (not an alias)."
  }
}

variable "fifo" {
  description = "Make a FIFO queue. Only for a queue that is made here."
  type        = bool
  default     = false

  validation {
    condition     = var.fifo != null
    error_message = "fifo must be true or false."
  }
}

variable "visibility_timeout_seconds" {
  description = "Lease of a received message. The SDK extends it, so it need not be as long as a handler runs."
  type        = number
  default     = 60

  validation {
    condition     = var.visibility_timeout_seconds >= 1 && var.visibility_timeout_seconds <= 43200
    error_message = "visibility_timeout_seconds must be from 1 to 43200 (12 hours)."
  }
}

variable "message_retention_seconds" {
  description = "How long the queue keeps a message. The dead-letter queue keeps it for 14 days from when it was sent first."
  type        = number
  default     = 345600

  validation {
    condition     = var.message_retention_seconds >= 60 && var.message_retention_seconds <= 1209600
    error_message = "message_retention_seconds must be from 60 to 1209600 (14 days)."
  }
}

variable "max_receive_count" {
  description = "Receives after which SQS moves a message to the dead-letter queue."
  type        = number
  default     = 5

  validation {
    condition     = var.max_receive_count >= 1 && var.max_receive_count <= 1000
    error_message = "max_receive_count must be from 1 to 1000."
  }
}

variable "queue_policy_statements" {
  description = "JSON list of statements that the policy of the queue made here has besides its own, such as one that lets an SNS topic send. Their Resource is filled in. A second aws_sqs_queue_policy would replace the first."
  type        = string
  default     = "[]"

  validation {
    condition     = can([for one in jsondecode(var.queue_policy_statements) : one.Effect])
    error_message = "queue_policy_statements must be a JSON list of policy statements: write jsonencode([{ Effect = … }])."
  }
}

variable "ecs" {
  description = "The ECS service whose desired count is set. Either this or autoscaling_group."
  type        = object({ cluster_arn = string, service_arn = string })
  default     = null

  validation {
    condition = var.ecs == null || (
      can(regex("^arn:[a-z-]+:ecs:[a-z0-9-]+:[0-9]{12}:cluster/.+$", var.ecs.cluster_arn)) &&
      can(regex("^arn:[a-z-]+:ecs:[a-z0-9-]+:[0-9]{12}:service/.+/.+$", var.ecs.service_arn))
    )
    error_message = "ecs must have the ARNs of a cluster and of a service (arn:…:service/CLUSTER/SERVICE)."
  }
}

variable "autoscaling_group" {
  description = "Name of the Auto Scaling group whose desired capacity is set. Either this or ecs."
  type        = string
  default     = null

  validation {
    condition     = var.autoscaling_group == null || (!startswith(coalesce(var.autoscaling_group, "x"), "arn:") && length(coalesce(var.autoscaling_group, "x")) <= 255)
    error_message = "autoscaling_group must be a group's name, not its ARN."
  }
}

variable "target_wait" {
  description = "No message should wait longer before a worker starts it, such as \"30s\" or \"5m\". Null only with finish_by in more_settings."
  type        = string
  default     = null

  validation {
    condition     = var.target_wait == null || can(regex("^([0-9]+(ms|s|m|h|d))+$", var.target_wait))
    error_message = "target_wait must be a duration such as 250ms, 90s, 5m or 1h30m."
  }
}

variable "min_workers" {
  description = "Never fewer workers than this."
  type        = number
  default     = 1

  validation {
    condition     = var.min_workers >= 0 && floor(var.min_workers) == var.min_workers
    error_message = "min_workers must be a whole number from 0."
  }
}

variable "max_workers" {
  description = "Never more workers than this: the limit of what is spent."
  type        = number

  validation {
    condition     = var.max_workers >= 1 && floor(var.max_workers) == var.max_workers
    error_message = "max_workers must be a whole number from 1."
  }
}

variable "slots_per_worker" {
  description = "Messages that one worker handles at a time."
  type        = number
  default     = 1

  validation {
    condition     = var.slots_per_worker >= 1 && floor(var.slots_per_worker) == var.slots_per_worker
    error_message = "slots_per_worker must be a whole number from 1."
  }
}

variable "more_settings" {
  description = "Any other setting of a pool (docs/configuration.md) as a JSON object, such as jsonencode({ policy = \"wait\" })."
  type        = string
  default     = "{}"

  validation {
    condition     = can(keys(jsondecode(var.more_settings)))
    error_message = "more_settings must be a JSON object: write jsonencode({ … })."
  }
}

variable "worker_role_name" {
  description = "Name of the workers' task or instance role, which gets the worker policy. Null: attach worker_policy_arn yourself."
  type        = string
  default     = null

  validation {
    condition     = var.worker_role_name == null || can(regex("^[A-Za-z0-9+=,.@_-]{1,64}$", var.worker_role_name))
    error_message = "worker_role_name must be a role's name, not its ARN."
  }
}

variable "attach_worker_policy" {
  description = "Whether to attach the worker policy to worker_role_name. Known at plan time even where the name is not."
  type        = bool
  default     = false

  validation {
    condition     = var.attach_worker_policy != null
    error_message = "attach_worker_policy must be true or false."
  }
}

variable "namespace" {
  description = "CloudWatch namespace of the pool's metrics: the controller's."
  type        = string
  default     = "tidegate"

  validation {
    condition     = can(regex("^[A-Za-z0-9._/#:-]{1,255}$", var.namespace)) && !startswith(var.namespace, "AWS/")
    error_message = "namespace must be 1 to 255 letters, digits and . - _ / # :, not beginning with AWS/."
  }
}

variable "late_share_objective" {
  description = "Share of messages that may wait longer than the target."
  type        = number
  default     = 0.01

  validation {
    condition     = var.late_share_objective >= 0 && var.late_share_objective < 1
    error_message = "late_share_objective must be a share from 0 to below 1: write 0.01 for 1 %."
  }
}

variable "scale_events_per_minute" {
  description = "Changes of the desired count per minute that are too many when they last half an hour."
  type        = number
  default     = 1

  validation {
    condition     = var.scale_events_per_minute > 0
    error_message = "scale_events_per_minute must be above 0."
  }
}

variable "left_out" {
  description = "Ids of alarms that are not wanted (see infra/observability/pool.json)."
  type        = set(string)
  default     = []

  validation {
    condition = length(setsubtract(var.left_out, [
      "late_share", "oldest_over_target", "at_ceiling", "dead_letter_arrivals", "leases_lost",
      "concurrency_below_provisioned", "throughput_below_arrivals", "controller_not_ticking", "scale_events",
    ])) == 0
    error_message = "left_out may hold ids of infra/observability/pool.json only."
  }
}

variable "alarm_actions" {
  description = "ARNs that are told of the pool's alarms, such as an SNS topic's."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.alarm_actions : startswith(arn, "arn:")])
    error_message = "alarm_actions must be ARNs."
  }
}

variable "tags" {
  description = "Tags of everything that is made here."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for key in keys(var.tags) : length(key) <= 128 && !startswith(key, "aws:")])
    error_message = "tags must have keys of at most 128 characters that don't begin with aws:."
  }
}
