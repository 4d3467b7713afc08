"""The JSON Schema of the settings file, for editors (draft 2020-12)."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from tidegate.config.models import Settings
from tidegate.config.values import DURATION_PATTERN
from tidegate.core.durations import format_duration

__all__ = ["json_schema"]

_EITHER = (("queue", "queues"), ("ecs", "asg"), ("target_wait", "finish_by"))


class _Toml(GenerateJsonSchema):
    """As TOML has it: no null (a setting is left out instead), defaults as people write them."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False  # "Min Workers" says no more than min_workers

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        written = super().default_schema(schema)
        kinds = written.get("oneOf", [{}])
        default = written.get("default")
        if {"const": "auto"} in kinds:
            return {**written, "default": "auto" if default is None else default}
        if default is None:
            written.pop("default", None)
        elif kinds[0].get("pattern") == DURATION_PATTERN:
            return {**written, "default": format_duration(default)}
        return written


def json_schema() -> dict[str, Any]:
    """What a settings file may hold, for editors that complete and check TOML by a schema (Taplo, Even Better TOML)."""
    schema = Settings.model_json_schema(by_alias=True, schema_generator=_Toml)
    pool = schema["$defs"]["PoolSettings"]
    pool["allOf"] = [{"oneOf": [{"required": [name]} for name in names]} for names in _EITHER]
    schema["not"] = {"required": ["table", "state_dir"]}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **schema,
        "title": "tidegate settings",
        "description": "Settings of tidegate, the SQS-native autoscaler: common ones, then one table per pool.",
    }
