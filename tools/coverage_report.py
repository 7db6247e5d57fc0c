"""Reads what `llvm-cov export` says of scheduler/: prints a table, and fails where too little is reached.

95 % of the lines of all files together, and every branch, both ways, of those that divide fair shares and take away
from the running. What assert asks for is our own mistakes and has no other way."""

import json
import pathlib
import sys

LINES_PERCENT = 95.0
EVERY_BRANCH = [
    "fair_share.c",
    "fairness.c",
    "victims.c",
    "scenarios.c",
    "evictions.c",
    "reclaim.c",
    "preempt.c",
    "consolidation.c",
    "min_run_time.c",
]
TRUE_COUNT, FALSE_COUNT = 4, 5


def missed_branches(path, branches):
    """(line, text, the way that was not taken) of each branch; a place that stands in several objects counts once."""
    lines = path.read_text().splitlines()
    taken = {}
    for branch in branches:
        counts = taken.setdefault(tuple(branch[:4]), [0, 0])
        counts[0] += branch[TRUE_COUNT]
        counts[1] += branch[FALSE_COUNT]
    for (line, column, last, end), (true_count, false_count) in sorted(taken.items()):
        text = lines[line - 1]
        if "assert(" in text:
            continue
        condition = text[column - 1 : end - 1] if line == last else text[column - 1 :]
        if true_count == 0:
            yield line, condition, "never true"
        if false_count == 0:
            yield line, condition, "never false"


def main():
    report = json.loads(pathlib.Path(sys.argv[1]).read_text())["data"][0]
    root = pathlib.Path.cwd()
    failed = []
    print(f"{'file':<24}{'lines':>8}{'reached':>10}{'branches':>10}{'reached':>10}")
    count = covered = 0
    for entry in sorted(report["files"], key=lambda entry: entry["filename"]):
        path = pathlib.Path(entry["filename"])
        if root / "scheduler" not in path.parents:
            continue
        lines, branches = entry["summary"]["lines"], entry["summary"]["branches"]
        count += lines["count"]
        covered += lines["covered"]
        print(
            f"{path.name:<24}{lines['count']:>8}{lines['percent']:>9.1f}%{branches['count']:>10}{branches['percent']:>9.1f}%"
        )
        if path.name in EVERY_BRANCH:
            failed += [
                f"{path.name}:{line}: {text}: {way}" for line, text, way in missed_branches(path, entry["branches"])
            ]
    percent = 100 * covered / count
    print(f"{'all':<24}{count:>8}{percent:>9.1f}%")
    for line in failed:
        print(line)
    if percent < LINES_PERCENT:
        sys.exit(f"coverage: {percent:.1f} % of the lines, at least {LINES_PERCENT} are asked for")
    if failed:
        sys.exit(f"coverage: {len(failed)} ways of branches that no test takes")


main()
