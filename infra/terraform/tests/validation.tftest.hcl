# Never the real provider: these tests apply what they assert on.
mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  package_s3 = { bucket = "artifacts", key = "tidegate.zip" }
  pools = {
    orders = { settings = "{}", queue_arn = "arn:aws:sqs:us-east-1:123456789012:orders" }
  }
}

# Every validation at once: each variable below has a value that it must refuse.
run "refuses_every_wrong_value" {
  command = plan
  variables {
    name                = "Tidegate_1"
    controller          = "fargate"
    pools               = {}
    tick                = "1m"
    namespace           = "AWS/SQS"
    package_file        = "tidegate.tar"
    package_s3          = { bucket = "b", key = "tidegate.zip" }
    architecture        = "aarch64"
    runtime             = "python3.9"
    memory_size         = 64
    ecs                 = { cluster_arn = "prod", image = "x", subnets = ["s"], security_groups = ["g"] }
    kms_key_arn         = "alias/tidegate"
    log_retention_days  = 31
    deletion_protection = null
    tags                = { "aws:x" = "y" }
  }
  expect_failures = [
    var.name, var.controller, var.pools, var.tick, var.namespace, var.package_file, var.package_s3, var.architecture,
    var.runtime, var.memory_size, var.ecs, var.kms_key_arn, var.log_retention_days, var.deletion_protection, var.tags,
  ]
}

run "refuses_pool_names_ticks_and_networks_that_the_controller_would" {
  command = plan
  variables {
    pools = { "my orders" = { settings = "{}", queue_arn = "arn:aws:sqs:us-east-1:123456789012:orders" } }
    tick  = "61s"
    ecs = {
      cluster_arn = "arn:aws:ecs:us-east-1:123456789012:cluster/prod", image = "x", subnets = [], security_groups = []
    }
  }
  expect_failures = [var.pools, var.tick, var.ecs]
}
