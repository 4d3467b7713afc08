variable "pool" {
  description = "The pool's name in the controller's settings."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$", var.pool)) && length(var.pool) <= 64
    error_message = "pool must be 1 to 64 letters and digits, with single -, _ or . between them."
  }
}

variable "namespace" {
  description = "CloudWatch namespace that the controller publishes into."
  type        = string
  default     = "tidegate"

  validation {
    condition     = can(regex("^[A-Za-z0-9._/#:-]{1,255}$", var.namespace)) && !startswith(var.namespace, "AWS/")
    error_message = "namespace must be 1 to 255 letters, digits and . - _ / # :, not beginning with AWS/."
  }
}

variable "dead_letter_queue_name" {
  description = "Name of the pool's dead-letter queue. Null: there is none, and what watches it is left out."
  type        = string
  default     = null

  validation {
    condition     = var.dead_letter_queue_name == null || can(regex("^[A-Za-z0-9_-]{1,75}([.]fifo)?$", var.dead_letter_queue_name))
    error_message = "dead_letter_queue_name must be a queue's name, not its ARN or URL."
  }
}

variable "late_share_objective" {
  description = "Share of messages that may wait longer than the target, such as 0.01 for one in a hundred."
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

variable "alarm_actions" {
  description = "ARNs that are told when an alarm goes off and when it is over, such as an SNS topic's."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.alarm_actions : startswith(arn, "arn:")])
    error_message = "alarm_actions must be ARNs."
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

variable "tags" {
  description = "Tags of every alarm."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for key in keys(var.tags) : length(key) <= 128 && !startswith(key, "aws:")])
    error_message = "tags must have keys of at most 128 characters that don't begin with aws:."
  }
}
