"""Writes a C file with every migration's text: embed_migrations.py OUT.c 0001_initial.sql ..."""

import pathlib
import sys

out, *files = sys.argv[1:]
lines = ['#include "db/migrations.h"', "", "const struct migration MIGRATIONS[] = {"]
for place, path in enumerate(sorted(map(pathlib.Path, files)), 1):
    number, _, name = path.stem.partition("_")
    if int(number) != place or not name:
        sys.exit(f"{path.name}: the next number is {place:04}, and a name follows it: {place:04}_name.sql")
    text = path.read_text()
    literal = "\n".join('        "' + l.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for l in text.splitlines())
    lines += ['    {%d, "%s",\n%s},' % (int(number), name, literal)]
lines += ["};", "const size_t MIGRATION_COUNT = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0]);", ""]
pathlib.Path(out).write_text("\n".join(lines))
