# Renders infra/observability/pool.json, the one source of alarms and dashboard, for one pool.
data "aws_region" "current" {}

locals {
  watched = jsondecode(file("${path.module}/../../../observability/pool.json"))

  dead_letter_queue = var.dead_letter_queue_name == null ? "" : var.dead_letter_queue_name
  variables = {
    late_share_objective    = var.late_share_objective
    scale_events_per_minute = var.scale_events_per_minute
  }

  # Each series with the pool's own names in it.
  series = {
    for id, one in local.watched.series : id => {
      namespace = replace(one.namespace, "{namespace}", var.namespace)
      metric    = one.metric
      stat      = one.stat
      label     = one.label
      dimensions = {
        for key, value in one.dimensions :
        key => replace(replace(value, "{pool}", var.pool), "{dead_letter_queue}", local.dead_letter_queue)
      }
    }
  }

  # What needs a dead-letter queue is left out where there is none.
  alarms = {
    for alarm in local.watched.alarms : alarm.id => alarm
    if !contains(var.left_out, alarm.id) && (try(alarm.needs, null) == null || local.dead_letter_queue != "")
  }
  widgets = [
    for widget in local.watched.dashboard : widget
    if try(widget.needs, null) == null || local.dead_letter_queue != ""
  ]

  # A threshold is a number or the "{name}" of a variable.
  thresholds = {
    for id, alarm in local.alarms :
    id => try(tonumber(alarm.threshold), local.variables[trim(alarm.threshold, "{}")])
  }

  dashboard = {
    widgets = [
      for widget in local.widgets : {
        type   = "metric"
        x      = widget.x
        y      = widget.y
        width  = widget.width
        height = widget.height
        properties = {
          title  = widget.title
          region = data.aws_region.current.region
          view   = "timeSeries"
          period = widget.period_s
          yAxis  = { left = { min = 0 } }
          metrics = concat(
            [for id in try(widget.show, []) : local.lines[id].shown],
            [for id in try(widget.hide, []) : local.lines[id].hidden],
            [for text in compact([try(widget.expression, "")]) : [{ expression = text, label = widget.label, id = "value" }]],
          )
          annotations = {
            horizontal = [
              for line in try(widget.horizontal, []) : {
                label = line.label
                value = try(tonumber(line.value), local.variables[trim(line.value, "{}")])
              }
            ]
          }
        }
      }
    ]
  }

  # A series as a dashboard writes it: namespace, metric, dimensions, then how it is drawn.
  lines = {
    for id, one in local.series : id => {
      for look, visible in { shown = true, hidden = false } : look => concat(
        [one.namespace, one.metric],
        flatten([for key, value in one.dimensions : [key, value]]),
        [{ id = id, stat = one.stat, label = one.label, visible = visible }],
      )
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${var.namespace}-${var.pool}-${replace(each.key, "_", "-")}"
  alarm_description   = each.value.description
  comparison_operator = each.value.comparison
  threshold           = local.thresholds[each.key]
  evaluation_periods  = each.value.of
  datapoints_to_alarm = each.value.datapoints
  treat_missing_data  = each.value.missing
  alarm_actions       = var.alarm_actions
  ok_actions          = var.alarm_actions
  tags                = var.tags

  # One metric by itself, or several that an expression makes a value of.
  namespace   = can(each.value.expression) ? null : local.series[each.value.series[0]].namespace
  metric_name = can(each.value.expression) ? null : local.series[each.value.series[0]].metric
  dimensions  = can(each.value.expression) ? null : local.series[each.value.series[0]].dimensions
  statistic   = can(each.value.expression) ? null : local.series[each.value.series[0]].stat
  period      = can(each.value.expression) ? null : each.value.period_s

  dynamic "metric_query" {
    for_each = can(each.value.expression) ? each.value.series : []

    content {
      id          = metric_query.value
      label       = local.series[metric_query.value].label
      return_data = false

      metric {
        namespace   = local.series[metric_query.value].namespace
        metric_name = local.series[metric_query.value].metric
        dimensions  = local.series[metric_query.value].dimensions
        stat        = local.series[metric_query.value].stat
        period      = each.value.period_s
      }
    }
  }

  dynamic "metric_query" {
    for_each = compact([try(each.value.expression, "")])

    content {
      id          = "value"
      label       = each.value.label
      expression  = metric_query.value
      return_data = true
    }
  }
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = "${var.namespace}-${var.pool}"
  dashboard_body = jsonencode(local.dashboard)
}
