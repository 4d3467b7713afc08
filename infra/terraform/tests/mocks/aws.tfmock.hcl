# What the provider would compute, for the tests of all modules: each apply what it asserts on, with nothing of an account.
mock_data "aws_region" {
  defaults = { region = "us-east-1", name = "us-east-1" }
}
mock_data "aws_partition" {
  defaults = { partition = "aws", dns_suffix = "amazonaws.com" }
}
mock_data "aws_caller_identity" {
  defaults = { account_id = "123456789012" }
}
mock_resource "aws_sqs_queue" {
  defaults = {
    arn = "arn:aws:sqs:us-east-1:123456789012:orders"
    url = "https://sqs.us-east-1.amazonaws.com/123456789012/orders"
  }
}
mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::123456789012:role/tidegate" }
}
mock_resource "aws_lambda_function" {
  defaults = { arn = "arn:aws:lambda:us-east-1:123456789012:function:tidegate" }
}
mock_resource "aws_dynamodb_table" {
  defaults = { arn = "arn:aws:dynamodb:us-east-1:123456789012:table/tidegate" }
}
mock_resource "aws_ssm_parameter" {
  defaults = { arn = "arn:aws:ssm:us-east-1:123456789012:parameter/tidegate/settings" }
}
mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:us-east-1:123456789012:log-group:tidegate" }
}
