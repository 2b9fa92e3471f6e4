"""The ledger of an organization over HTTP."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal.credits.models import Account, Transfer
from portal.http.fields import PageQuery, page_of
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.organizations.access import require
from portal.tenancy import Role


class LedgerEntrySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=Transfer.Kind.choices)
    microcredits = serializers.SerializerMethodField(help_text="Change of the wallet.")
    held_microcredits = serializers.SerializerMethodField(help_text="Change of what is held.")
    note = serializers.CharField()
    created_at = serializers.DateTimeField()

    def get_microcredits(self, row: Transfer) -> int:
        return _change(row, Account.Kind.WALLET)

    def get_held_microcredits(self, row: Transfer) -> int:
        return _change(row, Account.Kind.HELD)


def _change(row: Transfer, kind: Account.Kind) -> int:
    return (row.amount if row.credit.kind == kind else 0) - (row.amount if row.debit.kind == kind else 0)


class LedgerView(PodiumView):
    """Every transfer, newest first."""

    scopes = {"GET": "organizations:read"}

    @extend_schema(
        operation_id="organizations_ledger_list",
        parameters=[PageQuery],
        responses=page_of(LedgerEntrySerializer),
        tags=["organizations"],
    )
    def get(self, request: Request, org_id: UUID) -> Response:
        require(self.actor, org_id, Role.VIEWER)
        rows = Transfer.objects.filter(org_id=org_id).select_related("debit", "credit")
        return page(request, rows, lambda row: LedgerEntrySerializer(row).data)


routes = [path("organizations/<uuid:org_id>/ledger", LedgerView.as_view())]
