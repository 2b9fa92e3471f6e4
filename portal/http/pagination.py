"""Pages by cursor, newest first: {results, next}. Ids are time-ordered, so the id is the key of the page."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response


class CursorPage(CursorPagination):
    """`?cursor=&limit=`; at most 200 rows a page."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"results": data, "next": self.get_next_link()})


def page(request: Request, rows: QuerySet[Any], shape: Callable[[Any], Any], ordering: str = "-id") -> Response:
    """One page of `rows`, each turned into JSON values by `shape`."""
    pages = CursorPage()
    pages.ordering = ordering
    found: Iterable[Any] = pages.paginate_queryset(rows, request) or ()
    return pages.get_paginated_response([shape(row) for row in found])
