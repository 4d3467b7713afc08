variable "name" {
  description = "Name of the controller: of its function or service, table, parameter, roles and schedule."
  type        = string
  default     = "tidegate"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,39}$", var.name))
    error_message = "name must be 3 to 40 small letters, digits and -, beginning with a letter."
  }
}

variable "controller" {
  description = "Where the controller runs: \"lambda\" (a function that a schedule calls once a minute) or \"ecs\" (a task that always runs)."
  type        = string
  default     = "lambda"

  validation {
    condition     = contains(["lambda", "ecs"], var.controller)
    error_message = "controller must be \"lambda\" or \"ecs\"."
  }
}

variable "pools" {
  description = "The pools, each under its name: the output pool of modules/pool."
  type = map(object({
    settings          = string
    queue_arn         = string
    service_arn       = optional(string)
    autoscaling_group = optional(string)
  }))

  validation {
    condition     = length(var.pools) > 0
    error_message = "pools must hold at least one pool."
  }
  validation {
    condition     = alltrue([for name in keys(var.pools) : can(regex("^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$", name)) && length(name) <= 64])
    error_message = "A pool's name must be 1 to 64 letters and digits, with single -, _ or . between them."
  }
}

variable "tick" {
  description = "How often the controller looks at each pool, such as \"10s\". In Lambda, as many ticks as fit into a minute are made at each call."
  type        = string
  default     = "10s"

  validation {
    condition     = can(regex("^[0-9]+s$", var.tick)) && try(tonumber(trimsuffix(var.tick, "s")) >= 5 && tonumber(trimsuffix(var.tick, "s")) <= 60, false)
    error_message = "tick must be whole seconds from 5s to 60s."
  }
}

variable "namespace" {
  description = "CloudWatch namespace of the metrics that alarms and dashboards are made of."
  type        = string
  default     = "tidegate"

  validation {
    condition     = can(regex("^[A-Za-z0-9._/#:-]{1,255}$", var.namespace)) && !startswith(var.namespace, "AWS/")
    error_message = "namespace must be 1 to 255 letters, digits and . - _ / # :, not beginning with AWS/."
  }
}

variable "package_file" {
  description = "Path of the function's zip, as make lambda writes it. Either this or package_s3."
  type        = string
  default     = null

  validation {
    condition     = var.package_file == null || endswith(coalesce(var.package_file, "x.zip"), ".zip")
    error_message = "package_file must be a zip."
  }
}

variable "package_s3" {
  description = "Where the function's zip lies in S3. Either this or package_file."
  type        = object({ bucket = string, key = string, version = optional(string) })
  default     = null

  validation {
    condition     = var.package_s3 == null || (try(length(var.package_s3.bucket), 0) >= 3 && try(endswith(var.package_s3.key, ".zip"), false))
    error_message = "package_s3 must have a bucket and the key of a zip."
  }
}

variable "architecture" {
  description = "The zip's or image's architecture: \"arm64\" or \"x86_64\"."
  type        = string
  default     = "arm64"

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "architecture must be \"arm64\" or \"x86_64\"."
  }
}

variable "runtime" {
  description = "The function's Python, the one that the zip was built for."
  type        = string
  default     = "python3.13"

  validation {
    condition     = contains(["python3.11", "python3.12", "python3.13"], var.runtime)
    error_message = "runtime must be python3.11, python3.12 or python3.13."
  }
}

variable "memory_size" {
  description = "The function's memory in MB, which its share of a processor goes by."
  type        = number
  default     = 256

  validation {
    condition     = var.memory_size >= 128 && var.memory_size <= 10240
    error_message = "memory_size must be from 128 to 10240 MB."
  }
}

variable "ecs" {
  description = "With controller = \"ecs\": cluster, image (infra/docker/Dockerfile) and network of the task. Subnets need a way to AWS's APIs."
  type = object({
    cluster_arn          = string
    image                = string
    image_repository_arn = optional(string)
    subnets              = list(string)
    security_groups      = list(string)
    assign_public_ip     = optional(bool, false)
    cpu                  = optional(number, 256)
    memory               = optional(number, 512)
  })
  default = null

  validation {
    condition     = var.ecs == null || can(regex("^arn:[a-z-]+:ecs:[a-z0-9-]+:[0-9]{12}:cluster/.+$", var.ecs.cluster_arn))
    error_message = "ecs.cluster_arn must be a cluster's ARN."
  }
  validation {
    condition     = var.ecs == null || try(length(var.ecs.subnets) > 0 && length(var.ecs.security_groups) > 0, false)
    error_message = "ecs must name at least one subnet and one security group."
  }
}

variable "kms_key_arn" {
  description = "ARN of the KMS key for the table, the parameter and the log. Null: the services' own keys."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null || can(regex("^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/.+$", var.kms_key_arn))
    error_message = "kms_key_arn must be a key's ARN (not an alias)."
  }
}

variable "log_retention_days" {
  description = "How long the log is kept."
  type        = number
  default     = 30

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "log_retention_days must be one of the retentions that CloudWatch Logs has, such as 30 or 365."
  }
}

variable "deletion_protection" {
  description = "Whether the table refuses to be deleted. What pools have learned is in it."
  type        = bool
  default     = true

  validation {
    condition     = var.deletion_protection != null
    error_message = "deletion_protection must be true or false."
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
