"""Embeds files in the binary: embed_assets.py OUT_DIR PAGES.json /PREFIX/=FOLDER /exact/path=FILE ...

Writes OUT_DIR/assets.c (see api/assets.h) and beside it the files it includes, each plain and, where that is smaller,
gzipped (as FILE.gz has it, where that lies beside FILE): either is sent as it lies in the binary.
PAGES.json lists the addresses of pages.
A name that ends in a hash, as esbuild writes it (app-1A2B3C4D.js), never changes its content.
"""

import gzip
import hashlib
import json
import pathlib
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}


def files(arguments):
    for argument in arguments:
        prefix, _, source = argument.partition("=")
        source = pathlib.Path(source)
        if not prefix.endswith("/"):
            yield prefix, source
            continue
        for path in sorted(source.rglob("*")) if source.is_dir() else []:
            if path.is_file() and path.suffix in TYPES and not (prefix == "/" and path.is_relative_to(source / "docs")):
                yield prefix + str(path.relative_to(source)), path


def main(out, pages, arguments):
    folder = out / "assets"
    folder.mkdir(parents=True, exist_ok=True)
    rows, blobs = {}, set()
    for path, source in files(arguments):
        content = source.read_bytes()
        ready = source.with_name(source.name + ".gz")
        packed = ready.read_bytes() if ready.exists() else gzip.compress(content, 9, mtime=0)
        digest, packed_digest = (hashlib.sha256(form).hexdigest()[:16] for form in (content, packed))
        forms = {digest + "_plain": content}
        if len(packed) < len(content):
            forms[packed_digest + "_gz"] = packed
        for name, form in forms.items():
            if not (folder / name).exists():
                (folder / name).write_bytes(form)
        blobs |= forms.keys()
        is_immutable = re.search(r"-[0-9A-Za-z]{8}\.\w+$", path) is not None
        packed_form = "ASSET_%s_gz, %d" % (packed_digest, len(packed)) if len(forms) > 1 else "NULL, 0"
        rows[path] = '    {"%s", "%s", "%s", ASSET_%s_plain, %d, %s, %s},' % (
            path,
            TYPES[source.suffix],
            digest,
            digest,
            len(content),
            packed_form,
            str(is_immutable).lower(),
        )
    lines = ["// Made by tools/embed_assets.py.", '#include "api/assets.h"', ""]
    for name in sorted(blobs):
        lines += [
            '__asm__(".section .rodata\\n.balign 16\\n.global ASSET_%s\\nASSET_%s:\\n.incbin \\"%s\\"\\n.byte '
            '0\\n.text\\n");' % (name, name, folder / name),
            "extern const unsigned char ASSET_%s[];" % name,
        ]
    lines += ["", "const struct asset ASSETS[] = {"] + [rows[k] for k in sorted(rows, key=str.encode)]
    lines += ["};", "const size_t ASSET_COUNT = %d;" % len(rows), "", "const char *const PAGES[] = {"]
    lines += ["    %s," % json.dumps(page) for page in pages] + ["    NULL,", "};", ""]
    target = out / "assets.c"
    if not target.exists() or target.read_text() != "\n".join(lines):
        target.write_text("\n".join(lines))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text()), sys.argv[3:])
