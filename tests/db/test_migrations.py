"""Migrations: what shipped never changes, and a folder of an older schema opens under this program with everything in
it."""

import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

import old_folder
import pytest
from old_folder import MIGRATIONS
from servers import PRORATA, ROOT, Server

SHIPPED = {"0001_initial.sql": "4d0ebc177fe34c6d89fcc5c7a4892e3a047f599d1b971f918f8af34bd845bca0"}
# What people put in; the rest are figures that the server renews.
KEPT = {
    "clusters": "uuid, name, created_ms",
    "node_pools": "id, name, is_default, label_key, label_value, gpu_placement, cpu_placement, settings_json, "
    "created_ms",
    "nodes": "uuid, name, node_pool_id, labels_json, gpu_count, cpu_milli, memory_bytes, created_ms",
    "topologies": "uuid, name, levels_json",
    "departments": "id, name, description, scheduling_rules_json, default_node_pools_json, node_types_json, "
    "created_by, "
    "created_ms",
    "projects": "id, department_id, name, description, namespace, requested_namespace, scheduling_rules_json, "
    "default_node_pools_json, node_types_json, created_by, created_ms",
    "queues": "owner_kind, owner_id, node_pool_id, rank_name, rank, gpu_deserved_milli, gpu_limit_milli, "
    "gpu_over_quota_weight, "
    "cpu_deserved_milli, cpu_limit_milli, memory_deserved_bytes, memory_limit_bytes, memory_units",
    "workloads": "uuid, name, type, project_id, project_name, created_by, created_ms, desired_phase, spec_json, "
    "master_spec_json, "
    "framework, priority, priority_class, preemptible, node_pools_json, pods_wanted, min_pods, time_limit_ms, "
    "idle_limit_ms",
    "receipts": "id, workload_id, rule, sentence, victim_queue_json, beneficiary_queue_json",
    "assets": "uuid, kind, name, scope, scope_id, spec_json",
    "users": "uuid, email, password_hash, reset_password",
    "service_accounts": "uuid, name, client_id, secret_hash, enabled",
    "access_rules": "subject_type, subject_id, scope_type, scope_id",
    "tenant_settings": "key, value",
}


def schema(database):
    return database.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2"
    ).fetchall()


def rows(database):
    return {
        table: sorted(database.execute(f"SELECT {columns} FROM {table}").fetchall(), key=repr)
        for table, columns in KEPT.items()
    }


@pytest.fixture
def upgraded(folder):
    """A server on a folder of schema 1; the rows of that folder before it started."""
    server = Server(folder)
    old_folder.write(server.data)
    with sqlite3.connect(server.data / "prorata.db") as database:
        before = rows(database)
    yield server.start(), before
    server.stop()


def test_shipped_migrations_never_change():
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in MIGRATIONS.glob("*.sql")}
    assert SHIPPED.items() <= found.items(), "a schema change is a migration of its own, with the next number"


def test_a_database_of_schema_1_opens_with_everything_in_it(upgraded):
    server, before = upgraded
    projects = {project["name"]: project for project in server.get("/api/v1/org-unit/projects").json["projects"]}
    assert projects["team-a"]["description"] == "the a team" and projects["team-a"]["defaultNodePools"] == [
        "h100",
        "default",
    ]
    workloads = {workload["name"]: workload for workload in server.get("/api/v1/workloads").json["workloads"]}
    assert (
        set(workloads) == {"a1", "a2", "b1", "b2", "desk", "gang", "paused"}
        and workloads["paused"]["phase"] == "Stopped"
    )
    after_start = server.submit("after", "team-b", 0)
    server.wait_phase(after_start, "Running")
    server.delete(f"/api/v1/workloads/trainings/{after_start}")
    server.wait_for("the deletion", lambda: len(server.get("/api/v1/workloads").json["workloads"]) == len(workloads))
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        assert not database.execute("PRAGMA foreign_key_check").fetchall()
        after = rows(database)
    after["workloads"] = [row for row in after["workloads"] if row[1] != "after"]
    assert {table: len(found) for table, found in before.items() if not found} == {}
    for table in KEPT:
        assert after[table] == before[table], table


def test_a_rule_keeps_its_role_where_the_numbers_of_roles_change(folder):
    old = {2: "Department administrator", 4: "Project administrator", 8: "Research manager", 9: "L1 researcher"}
    old |= {5: "AI practitioner", 10: "L2 researcher", 11: "ML engineer", 12: "Viewer", 18: "Data volume administrator"}
    rule = "INSERT INTO access_rules SELECT 100 + {0}, 'user', 'jane@prorata.local', {0}, scope_type, scope_id, "
    rule += "cluster_uuid, created_by, created_ms, updated_ms, deleted_ms FROM access_rules WHERE id = 2;"
    server = Server(folder)
    old_folder.write(
        server.data,
        "DELETE FROM access_rules WHERE role_id = 9 AND id <> 2;",
        *(rule.format(number) for number in old if number != 9),
    )
    server.start()
    rules = server.get("/api/v1/authorization/access-rules", subjectIds="jane@prorata.local").json["accessRules"]
    roles = {role["id"]: role["name"] for role in server.get("/api/v1/authorization/roles").json}
    server.stop()
    assert sorted(rule["roleName"] for rule in rules) == sorted(old.values())
    assert all(roles[rule["roleId"]] == rule["roleName"] for rule in rules)
    # As Run:ai has them: a script that grants 8 makes an L2 researcher.
    assert [roles[number] for number in (1, 6, 8)] == ["System administrator", "ML engineer", "L2 researcher"]
    assert [roles[number] for number in (9, 10, 11, 13)] == [
        f"{kind} administrator" for kind in ("Environment", "Credentials", "Data source", "Template")
    ]


def test_a_copy_is_kept_before_a_migration(upgraded, folder):
    server, before = upgraded
    server.stop()
    copy = server.data / "prorata.db.before-2"
    assert copy.stat().st_mode & 0o777 == 0o600 and len(list(server.data.glob("prorata.db.before-*"))) == 1
    with sqlite3.connect(copy) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,) and rows(database) == before
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    kept = copy.read_bytes()
    (server.data / "prorata.db").write_bytes(kept)
    (server.data / "prorata.db.before-1").write_text("of an older release")
    server.start().stop()
    assert [path.name for path in server.data.glob("prorata.db.before-*")] == [copy.name]
    kept = copy.read_bytes()
    server.start().stop()
    assert copy.read_bytes() == kept, "a start without a migration makes none"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_no_migration_without_room_for_the_copy(upgraded, folder):
    server, _ = upgraded
    server.stop()
    old = (server.data / "prorata.db.before-2").read_bytes()
    disk = Server(folder / "disk")
    disk.data.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={len(old) + (1 << 20)}", "tmpfs", str(disk.data)], check=True)
    try:
        disk.data.chmod(0o700)
        (disk.data / "prorata.db").write_bytes(old)
        disk.start(wait=False)
        assert disk.process.wait(60) == 2 and "make room for" in disk.tail()
        with sqlite3.connect(disk.data / "prorata.db") as database:
            assert database.execute("PRAGMA user_version").fetchone() == (1,)
        assert not list(disk.data.glob("prorata.db.before-*"))
    finally:
        subprocess.run(["umount", "-l", str(disk.data)], check=True)


@pytest.mark.parametrize("version", old_folder.NUMBERS)
def test_the_schema_of_each_release_is_as_its_migrations_make_it(folder, version):
    old_folder.write(folder, schema=version)
    done = subprocess.run([PRORATA, "verify", "--json", "--data", folder], capture_output=True, text=True, timeout=60)
    answer = json.loads(done.stdout)
    assert answer["schema"] == version and not [text for text in answer["problems"] if "the schema" in text]


@pytest.mark.parametrize("version", old_folder.NUMBERS[1:-1])
def test_a_database_of_a_later_schema_opens_too(folder, version):
    server = Server(folder)
    old_folder.write(server.data, schema=version)
    with sqlite3.connect(server.data / "prorata.db") as database:
        before = rows(database)
    assert server.start().stop() == 0 and (server.data / f"prorata.db.before-{version + 1}").exists()
    done = subprocess.run([PRORATA, "verify", "--data", server.data], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    with sqlite3.connect(server.data / "prorata.db") as database:
        assert rows(database) == before and not database.execute("PRAGMA foreign_key_check").fetchall()


def test_an_upgraded_database_has_the_schema_of_a_new_one(upgraded, make_server):
    server, _ = upgraded
    new = make_server()
    with sqlite3.connect(server.data / "prorata.db") as old_file, sqlite3.connect(new.data / "prorata.db") as new_file:
        assert schema(old_file) == schema(new_file)
        assert old_file.execute("PRAGMA user_version").fetchone() == new_file.execute("PRAGMA user_version").fetchone()


@pytest.mark.parametrize("names", [["0001_a.sql", "0002_b.sql", "0002_c.sql"], ["0002_a.sql"], ["0001.sql"]])
def test_the_build_refuses_numbers_that_stand_twice_or_begin_late(folder, names):
    for name in names:
        (folder / name).write_text("SELECT 1;\n")
    done = subprocess.run(
        [sys.executable, ROOT / "tools/embed_migrations.py", folder / "out.c", *(folder / n for n in names)],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "number" in done.stderr and not pathlib.Path(folder / "out.c").exists()


def test_ids_of_scopes_are_written_one_way():
    with sqlite3.connect(":memory:") as database:
        database.executescript((MIGRATIONS / "0001_initial.sql").read_text())
        insert = (
            "INSERT INTO access_rules(subject_type, subject_id, role_id, scope_type, scope_id, created_ms, updated_ms) "
            "VALUES ('user', ?, 9, ?, ?, 1, 1)"
        )
        for subject, kind, scope in (
            ("ann", "project", " 6"),
            ("ann", "project", "+6"),
            ("ann", "project", "6"),
            ("bob", "department", "006"),
            ("bob", "project", "7"),
            ("cy", "cluster", "0a-b"),
            ("cy", "tenant", "1"),
        ):
            database.execute(insert, (subject, kind, scope))
        database.executescript((MIGRATIONS / "0002_scope_ids.sql").read_text())
        assert sorted(database.execute("SELECT subject_id, scope_type, scope_id FROM access_rules")) == [
            ("ann", "project", "6"),
            ("bob", "department", "6"),
            ("bob", "project", "7"),
            ("cy", "cluster", "0a-b"),
            ("cy", "tenant", "1"),
        ]


def test_every_sealed_column_is_known_to_the_rotation_of_keys():
    known = (ROOT / "db/sealed_columns.c").read_text()
    with sqlite3.connect(":memory:") as database:
        for path in sorted(MIGRATIONS.glob("*.sql")):
            database.executescript(path.read_text())
        names = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'"
        sealed = {(table, column) for table, column in database.execute(names) if column.endswith("_sealed")}
    assert sealed
    for table, column in sealed:
        assert f"UPDATE {table} SET {column} = ?2" in known, (table, column)
