"""Data folders as older programs left them, for tests: the schema's SQL and rows as text."""
import sqlite3

from conftest import ROOT

MIGRATIONS = ROOT / "db/migrations"
APPLICATION_ID = 1886549106


def write(data, *more_sql):
    """A data folder of schema 1, as of 43ca360, filled; more_sql comes last."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with sqlite3.connect(data / "prorata.db") as database:
        database.executescript("\n".join([(MIGRATIONS / "0001_initial.sql").read_text(), (ROOT / "tests/db/filled_1.sql").read_text(), *more_sql]))
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("PRAGMA user_version = 1")
    database.close()


def version(data):
    database = sqlite3.connect(data / "prorata.db")
    try:
        return database.execute("PRAGMA user_version").fetchone()[0]
    finally:
        database.close()
