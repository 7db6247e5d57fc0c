"""Writes a C file with every migration's text: embed_migrations.py OUT.c 0001_initial.sql ..."""

import pathlib
import sys

out, *files = sys.argv[1:]
lines = ['#include "db/migrations.h"', "", "const struct migration MIGRATIONS[] = {"]
last = 0
for path in sorted(map(pathlib.Path, files)):
    number, _, name = path.stem.partition("_")
    if int(number) <= last or not name or (last == 0 and int(number) != 1):
        sys.exit(f"{path.name}: a number above {last:04}, and a name follows it: {last + 1:04}_name.sql")
    last = int(number)
    text = path.read_text()
    literal = "\n".join(
        '        "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in text.splitlines()
    )
    lines += ['    {%d, "%s",\n%s},' % (int(number), name, literal)]
lines += ["};", "const size_t MIGRATION_COUNT = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0]);", ""]
pathlib.Path(out).write_text("\n".join(lines))
