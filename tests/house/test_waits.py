"""Tests wait for facts, count events and move clocks. What sleeps for a fixed time, measures the machine, draws chance
without a seed or gives up early fails on some busy day though the product is right.

waits.txt lists the lines of today that do so (a loop that looks again after a pause is one). It only gets shorter: a
new line is refused, and one that is gone must be taken off."""

import collections
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = pathlib.Path(__file__).with_name("waits.txt")
KINDS = {
    "sleeps": re.compile(r"\btime\.sleep\(|\bwaitForTimeout\(|\bsetTimeout\(|\b(?:u|nano)sleep\("),
    "measures": re.compile(r"\bmonotonic\(\) *- *\w|\b(?:Date|performance)\.now\(\) *- *\w"),
    "is chance": re.compile(r"(?<![.\w])random\.(?!Random\(|uniform\b.*seed)[a-z]\w*\(|\bMath\.random\("),
    "gives up early": re.compile(
        r"(?<!\()\b(?:seconds|timeout)=[12]?\d(?:\.\d+)?\b(?!\.)|\btimeout: (?:\d{1,4}|[12]\d{4})\b"
    ),
}


def lines_of(path, text):
    for line in text.splitlines():
        for kind, pattern in KINDS.items():
            if pattern.search(line):
                yield f"{path}: {kind}: {line.strip()}"


def found():
    names = subprocess.run(["git", "ls-files", "tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.split():
        path = ROOT / name
        if path.suffix in (".py", ".mjs", ".c", ".h") and path.name != "test_waits.py" and path.exists():
            yield from lines_of(name, path.read_text())


def test_no_test_begins_to_depend_on_the_time_that_a_machine_takes():
    listed, now = collections.Counter(LIST.read_text().splitlines()), collections.Counter(found())
    new, gone = now - listed, listed - now
    assert not new, "wait for a fact instead:\n" + "\n".join(new.elements())
    assert not gone, "take off tests/house/waits.txt:\n" + "\n".join(gone.elements())


@pytest.mark.parametrize(
    "line",
    [
        "    time.sleep(2)",
        "await page.waitForTimeout(50);",
        "assert time.monotonic() - begun < 4",
        "assert.ok(Date.now() - from < 60000);",
        "seed = random.randrange(1 << 30)",
        "const x = Math.random();",
        'server.wait_for("both", ready, seconds=5)',
        'await page.waitForSelector(".x", { timeout: 5000 });',
        "usleep(2000);",
    ],
)
def test_such_a_line_is_seen(line):
    assert list(lines_of("x", line))


@pytest.mark.parametrize(
    "line",
    [
        "rng = random.Random(seed)",
        "self.random.choice(nodes)",
        'server.wait_for("both", ready, seconds=60)',
        "page.waitForSelector('.x', { timeout: 60000 })",
        "until = time.monotonic() + seconds",
    ],
)
def test_other_lines_are_not(line):
    assert not list(lines_of("x", line))
