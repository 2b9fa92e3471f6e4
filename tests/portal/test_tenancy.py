"""The walls in the database: every table is classed, and an application role sees nothing that is not opened for it."""

import threading
import uuid

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections

from portal import tenancy
from portal.credits.models import Account, Hold, Transfer
from portal.organizations.models import Membership, Organization, Project
from portal.registry.models import Model
from portal.tenancy.tables import TableClass, table_classes


def query(sql: str, alias: str = "owner", *params: object) -> list[tuple]:
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def test_every_table_is_classed():
    tables = {
        name
        for (name,) in query(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND NOT relispartition"
        )
    }
    assert tables == set(table_classes())


def test_tenant_tables_force_row_security():
    forced = dict(
        query(
            "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace"
        )
    )
    tenants = [name for name, kind in table_classes().items() if kind is TableClass.TENANT]
    assert len(tenants) >= 9
    assert [name for name in tenants if not forced[name]] == []


def test_policies_name_three_roles():
    found: dict[str, set[str]] = {}
    for table, roles in query("SELECT tablename, roles FROM pg_policies WHERE schemaname = 'public'"):
        found.setdefault(table, set()).update(roles.strip("{}").split(",") if isinstance(roles, str) else roles)
    for name, kind in table_classes().items():
        if kind is TableClass.TENANT:
            assert found[name] == {"podium_app", "podium_system", "podium_owner"}, name


def test_served_roles_are_weak():
    rows = query(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles"
        " WHERE rolname IN ('podium_app', 'podium_system') ORDER BY 1"
    )
    assert rows == [("podium_app", False, False, False), ("podium_system", False, False, False)]
    owned = query("SELECT tablename FROM pg_tables WHERE tableowner IN ('podium_app', 'podium_system')")
    assert owned == []
    assert query("SELECT current_user", "default") == [("podium_app",)]


def test_nothing_is_seen_without_context(person):
    tables = [name for name, kind in table_classes().items() if kind is TableClass.TENANT]
    assert query("SELECT count(*) FROM organizations_organization") != [(0,)]
    # The platform's two accounts have no organization and are the only rows that anybody may read.
    mine = dict.fromkeys(["credits_account"], "WHERE org_id IS NOT NULL")
    seen = {name: query(f"SELECT count(*) FROM {name} {mine.get(name, '')}", "default")[0][0] for name in tables}
    assert {name: count for name, count in seen.items() if count} == {}


def test_only_the_opened_organization_is_seen(person, stranger):
    with tenancy.context(user_id=person.user.id, org_ids=[person.org_id]):
        assert set(Organization.objects.values_list("id", flat=True)) == {person.org_id}
        assert set(Project.objects.values_list("org_id", flat=True)) == {person.org_id}
        assert set(Membership.objects.values_list("org_id", flat=True)) == {person.org_id}
        assert Account.objects.filter(org_id=stranger.org_id).count() == 0


def test_writing_into_another_organization_is_refused(person, stranger):
    def attempt() -> None:
        with tenancy.context(user_id=person.user.id, org_ids=[person.org_id]):
            Project.objects.create(org_id=stranger.org_id, slug="mine-now", name="x")

    with pytest.raises(ProgrammingError, match="row-level security"):
        attempt()


def test_moving_a_row_to_another_organization_is_refused(person, stranger):
    with pytest.raises(ProgrammingError, match="row-level security"), person.opened():
        Project.objects.filter(id=person.project_id).update(org_id=stranger.org_id)


def test_updating_and_deleting_a_stranger_touches_no_row(person, stranger):
    with person.opened():
        assert Project.objects.filter(id=stranger.project_id).update(name="taken") == 0
        assert Membership.objects.filter(org_id=stranger.org_id).delete()[0] == 0


def test_a_row_cannot_refer_to_a_strangers_project(person, stranger):
    """Row-level security does not check foreign keys; the composite ones do."""
    with pytest.raises(IntegrityError, match="registry_model_project_id_in_org"), person.opened():
        Model.objects.create(
            org_id=person.org_id,
            project_id=stranger.project_id,
            name="m",
            sha256="0" * 64,
            bytes=1,
            created_by=person.user,
        )


def test_a_transfer_cannot_touch_a_strangers_account(person, stranger):
    with stranger.opened():
        theirs = Account.objects.get(org_id=stranger.org_id, kind="wallet")
    with person.opened():
        mine = Account.objects.get(org_id=person.org_id, kind="wallet")
    with pytest.raises(IntegrityError, match="one organization"), person.opened():
        Transfer.objects.create(org_id=person.org_id, kind="grant", debit=theirs, credit=mine, amount=1)


def test_settings_end_with_the_transaction(person):
    with person.opened():
        assert query("SELECT podium_org_ids()", "default") == [([person.org_id],)]
    assert query("SELECT podium_org_ids(), podium_user_id()", "default") == [(None, None)]
    assert Organization.objects.count() == 0


def test_settings_end_with_an_error(person):
    def fail() -> None:
        with person.opened():
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert tenancy.current() is None
    assert query("SELECT podium_org_ids()", "default") == [(None,)]


def test_a_nested_context_restores_the_outer_one(person, stranger):
    with person.opened():
        with stranger.opened():
            assert set(Organization.objects.values_list("id", flat=True)) == {stranger.org_id}
        assert set(Organization.objects.values_list("id", flat=True)) == {person.org_id}
        with pytest.raises(LookupError), stranger.opened():
            raise LookupError
        assert set(Organization.objects.values_list("id", flat=True)) == {person.org_id}


def test_another_thread_has_no_context(person):
    seen = []

    def look() -> None:
        seen.append((tenancy.current(), Organization.objects.count()))
        connection.close()

    with person.opened():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [(None, 0)]


def test_the_system_role_sees_all_through_its_policies(person, stranger):
    with tenancy.context(role="system"):
        ids = set(Organization.objects.values_list("id", flat=True))
    assert {person.org_id, stranger.org_id} <= ids


def test_visible_to_needs_a_context(person):
    with pytest.raises(RuntimeError, match=r"tenancy\.context"):
        Hold.objects.visible_to(person.actor)


def test_ids_are_uuid7_and_grow():
    ids = [tenancy.uuid7() for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 5000
    assert {item.version for item in ids} == {7}
    assert {item.variant for item in ids} == {uuid.RFC_4122}


def test_public_cannot_call_the_token_function():
    granted = query(
        "SELECT has_function_privilege('podium_app', 'podium_find_token(bytea)', 'execute'),"
        " (SELECT bool_or(grantee = 0) FROM pg_proc p, aclexplode(p.proacl) WHERE proname = 'podium_find_token')"
    )
    assert granted == [(True, False)]
