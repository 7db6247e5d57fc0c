"""Writes a C file with every migration's text: embed_migrations.py OUT.c 0001_initial.sql ..."""
import pathlib
import sys

out, *files = sys.argv[1:]
lines = ['#include "db/migrations.h"', "", "const struct migration MIGRATIONS[] = {"]
for path in sorted(map(pathlib.Path, files)):
    number, _, name = path.stem.partition("_")
    text = path.read_text()
    literal = "\n".join('        "' + l.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for l in text.splitlines())
    lines += ["    {%d, \"%s\",\n%s}," % (int(number), name, literal)]
lines += ["};", "const size_t MIGRATION_COUNT = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0]);", ""]
pathlib.Path(out).write_text("\n".join(lines))
