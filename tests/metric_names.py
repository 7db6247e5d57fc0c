"""What docs/metrics.md says of /metrics, held against an answer."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/metrics.md"
BACKENDS = {"local": "Of the local backend", "kubernetes": "Of the Kubernetes backend"}


def documented(backend):
    """Name -> (labels, type, sentence) of what a server of this backend has."""
    rows = {}
    for section in PAGE.read_text().split("\n## "):
        if any(section.startswith(title) and other != backend for other, title in BACKENDS.items()):
            continue
        for name, labels, kind, text in re.findall(r"^\| `(\w+)(?:\{(.*?)\})?` \| (\w+) \| (.+) \|$", section, re.M):
            assert name not in rows, name
            rows[name] = (labels, kind, text)
    return rows


def check_metrics(page, backend):
    """Each name of the answer stands on the page with its type, labels and sentence, and no others do."""
    rows = documented(backend)
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M))
    told = {
        name: (rows.get(name, ("",))[0], kinds[name], text)
        for name, text in re.findall(r"^# HELP (\S+) (.+)$", page, re.M)
    }
    assert told == rows
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", page, re.M):
        if name not in rows:
            name, part = re.fullmatch(r"(\w+)_(bucket|sum|count)", name).groups()
            if part != "bucket":
                continue
        assert ",".join(re.findall(r'(\w+)="(?:[^"\\]|\\.)*"', labels)) == rows[name][0], (name, labels)
