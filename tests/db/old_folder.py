"""Data folders as older programs left them, for tests: the schema's SQL and rows as text."""

import os
import sqlite3

from servers import ROOT

MIGRATIONS = ROOT / "db/migrations"
NUMBERS = sorted(int(path.name[:4]) for path in MIGRATIONS.glob("*.sql"))
APPLICATION_ID = 1886549106


def write(data, *more_sql, rows="filled_1.sql", schema=1):
    """A data folder of a schema, the first is that of 43ca360, filled; more_sql comes last. rows: local_1.sql is of
    the local backend."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = (ROOT / "tests/db" / rows).read_text().replace("@NODE@", os.uname().nodename)
    files = [path for path in sorted(MIGRATIONS.glob("*.sql")) if int(path.name[:4]) <= schema]
    migrations = [path.read_text() for path in files]
    with sqlite3.connect(data / "prorata.db") as database:
        database.executescript("\n".join([migrations[0], text, *migrations[1:], *more_sql]))
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {schema}")
    database.close()


def version(data):
    database = sqlite3.connect(data / "prorata.db")
    try:
        return database.execute("PRAGMA user_version").fetchone()[0]
    finally:
        database.close()


def copies(table, count, **expressions):
    """SQL that copies the first row of a table so often. The expressions of columns may use i, counting from 1; id is
    id + i."""
    database = sqlite3.connect(":memory:")
    database.executescript((MIGRATIONS / "0001_initial.sql").read_text())
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    expressions = {"id": "t.id + i", **expressions}
    return (
        f"WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {count}) "
        f"INSERT INTO {table}({', '.join(columns)}) SELECT {', '.join(expressions.get(c, 't.' + c) for c in columns)} "
        f"FROM numbers, (SELECT * FROM {table} ORDER BY id LIMIT 1) AS t;"
    )


def uuids(prefix):
    """An expression for uuids."""
    return f"printf('{prefix}-0000-4000-8000-%012x', i)"
