"""Patterns of the document, compiled at build time, decide as Python's re does."""

import pathlib
import random
import re
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from pattern_automaton import compile_pattern, matches  # noqa: E402

ALPHABET = 'abzAZ019-_.:+/= ,µ\\@^$~<>!"eEinumkKMGTPshdwxyc'


def patterns_of(node):
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        for value in node.values():
            yield from patterns_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns_of(value)


DOCUMENT = yaml.load((ROOT / "openapi/openapi.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
OWN = ["ab|cd$", "^x|y", "a(b|c$)d?", "^(ab){2,3}$", "^a{0,2}$", "^[^a]$", "^.$", "", "^$"]


@pytest.mark.parametrize("pattern", sorted(set(patterns_of(DOCUMENT))) + OWN)
def test_pattern_decides_as_re(pattern):
    automaton, expression = compile_pattern(pattern), re.compile(pattern)
    chance = random.Random(pattern)
    for _ in range(1500):
        text = "".join(chance.choice(ALPHABET) for _ in range(chance.randint(0, 8)))
        # One byte at a time: `.` and sets of characters are bytes to the automaton.
        if not text.isascii() and re.search(r"\.(?![\d+])|\[\^", pattern):
            continue
        assert matches(automaton, text) == bool(expression.search(text)), repr(text)


@pytest.mark.parametrize("pattern", [r"^(a)\1$", "^a(?=b)", r"\bword", "^a*?b", "[é-ü]", "a^b"])
def test_what_cannot_be_compiled_is_refused(pattern):
    with pytest.raises(ValueError):
        compile_pattern(pattern)
