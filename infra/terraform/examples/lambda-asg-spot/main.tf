# The controller as a function; one pool of EC2 spot instances in an Auto Scaling group.
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

variable "worker_ami" {
  description = "Machine image of the workers: starts tidegate work as a service."
  type        = string
}

module "tidegate" {
  source = "../.."

  package_file = "${path.module}/../../../../lambda/dist/tidegate-aarch64-python3.13.zip"
  pools        = { thumbnails = module.thumbnails.pool }
}

module "thumbnails" {
  source = "../../modules/pool"

  name                 = "thumbnails"
  table_arn            = module.tidegate.table_arn
  target_wait          = "5m"
  min_workers          = 0
  max_workers          = 40
  slots_per_worker     = 8
  autoscaling_group    = aws_autoscaling_group.workers.name
  worker_role_name     = aws_iam_role.worker.name
  attach_worker_policy = true
  more_settings        = jsonencode({ stop_timeout = "110s", start_up_hint = "90s" })
}

resource "aws_autoscaling_group" "workers" {
  name                = "thumbnail-workers"
  min_size            = 0
  max_size            = 40
  vpc_zone_identifier = var.subnets
  capacity_rebalance  = true

  mixed_instances_policy {
    instances_distribution {
      on_demand_percentage_above_base_capacity = 0
      spot_allocation_strategy                 = "price-capacity-optimized"
    }
    launch_template {
      launch_template_specification {
        launch_template_id = aws_launch_template.worker.id
        version            = aws_launch_template.worker.latest_version
      }
      override {
        instance_type = "c7g.large"
      }
      override {
        instance_type = "c6g.large"
      }
    }
  }

  tag {
    key                 = "pool"
    value               = "thumbnails"
    propagate_at_launch = true
  }

  # tidegate sets it from now on; desired_capacity is left out for the same reason.
  lifecycle {
    ignore_changes = [desired_capacity]
  }
}

resource "aws_launch_template" "worker" {
  name     = "thumbnail-worker"
  image_id = var.worker_ami

  # IMDSv2 only; two hops, so that a container on the instance hears of a spot interruption too.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 2
  }

  iam_instance_profile {
    arn = aws_iam_instance_profile.worker.arn
  }

  user_data = base64encode(join("\n", concat(
    ["#!/bin/sh"],
    [for name, value in module.thumbnails.worker_environment : "echo '${name}=${value}' >> /etc/tidegate.env"],
    ["systemctl start tidegate-worker"],
  )))
}

resource "aws_iam_instance_profile" "worker" {
  name = "thumbnail-worker"
  role = aws_iam_role.worker.name
}

resource "aws_iam_role" "worker" {
  name               = "thumbnail-worker"
  assume_role_policy = data.aws_iam_policy_document.ec2.json
}

data "aws_iam_policy_document" "ec2" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}
