"""Serializer fields and shapes that several apps share."""

from datetime import datetime
from functools import cache
from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers


class AwareDateTimeField(serializers.DateTimeField):
    """ISO-8601 with an offset. A time without one is refused, since it would mean another instant to another reader."""

    default_error_messages = {"naive": "Give the time with its offset, as in 2026-11-30T16:00:00Z."}

    def enforce_timezone(self, value: datetime) -> datetime:
        if value.tzinfo is None:
            self.fail("naive")
        return super().enforce_timezone(value)


class PersonSerializer(serializers.Serializer[Any]):
    """The person who made something."""

    id = serializers.UUIDField()
    name = serializers.CharField(source="get_full_name")


class PageQuery(serializers.Serializer[Any]):
    """Query of every list that comes in pages."""

    cursor = serializers.CharField(required=False, help_text="From `next` of the page before.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=200, help_text="Rows a page (50).")


class ProjectPageQuery(PageQuery):
    """The same for rows that belong to projects."""

    project_id = serializers.UUIDField(required=False, help_text="Only rows of this project.")


@cache  # one class for each row, however many lists show it
def page_of(row: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """The shape of a page of such rows, for the schema: {results, next}."""
    name = row.__name__.removesuffix("Serializer")
    return inline_serializer(
        f"{name}Page",
        {"results": row(many=True), "next": serializers.URLField(allow_null=True, help_text="The next page.")},
    )
