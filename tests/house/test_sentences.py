"""docs/style.md, "Plain English": no sentence of docs/, README and CONTRIBUTING has more than 25 words."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS_MAX = 25
# The rows of findings.md quote what others said.
PAGES = [
    path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")) if path.name not in ("findings.md", "CHANGELOG.md")
]


def blocks(text):
    """(line, text) of each paragraph, item of a list and cell of a table; headings and code are left out."""
    text = re.sub(r"^ *```.*?^ *```", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S)
    begin, parts = 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        line = line.strip()
        item = re.match(r"(?:[-*]|\d+\.) +", line)
        if parts and (not line or item or line[0] in "|#>"):
            yield begin, " ".join(parts)
            parts = []
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in line.strip("|").split("|"))
        elif line and line[0] not in "#>":
            begin = number if not parts else begin
            parts.append(line[item.end() :] if item else line)


def sentences(text):
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.split(r"(?<=[.!?:;])[\"')*]*\s+", re.sub(r"\b(e\.g|i\.e|etc|al)\.", r"\1", text))


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_are_short(page):
    wrong = [
        f"{page.relative_to(ROOT)}:{line}: {len(words(sentence))} words: {sentence}"
        for line, text in blocks(page.read_text())
        for sentence in sentences(text)
        if len(words(sentence)) > WORDS_MAX
    ]
    assert not wrong, "\n".join(wrong)


def test_long_ones_are_found_wherever_they_stand():
    long = " ".join(["word"] * (WORDS_MAX + 1))
    text = (
        f"# {long}\n\n{long[: len(long) // 2]}\n{long[len(long) // 2 :]}. Two. `{long}`\n- {long}\n\n| a | {long} |\n"
        f"```\n{long}\n```\n"
    )
    found = [line for line, part in blocks(text) for sentence in sentences(part) if len(words(sentence)) > WORDS_MAX]
    assert found == [3, 5, 7]
