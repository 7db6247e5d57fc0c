"""One way to write each thing: words of enumerations, sizeof, numbers, includes, subjects of commits."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBJECT_COLUMNS_MAX = 72
LAST_LONG_SUBJECT = "12eaa47086441a911519c06ceed3d2502a8867e7"


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def code_of(path):
    return re.sub(r"//.*", "", (ROOT / path).read_text())


C_FILES = [name for name in git("ls-files", "*.c", "*.h").split("\n") if name and (ROOT / name).is_file()]


def found_in_code(pattern, let_pass=()):
    names = [name for name in C_FILES if not name.startswith(let_pass)]
    return [f"{name}: {hit[0]}" for name in names for hit in re.finditer(pattern, code_of(name))]


def test_words_of_workload_types_stand_once():
    # The client knows no room but base: its words are the API's. The API's table lists types that are not served too.
    let_pass = ("model/workload_type.h", "cli/", "tests/", "bench/", "api/workloads/workload_properties.c")
    wrong = found_in_code(r'"(?:Training|Workspace|Distributed)"(?!:)', let_pass)
    assert not wrong, "\n".join(wrong)


def test_sizeof_has_brackets():
    wrong = found_in_code(r"\bsizeof [^;]{0,30}")
    assert not wrong, "\n".join(wrong)


def test_numbers_of_64_bits_are_written_by_their_macros():
    wrong = found_in_code(r"%lld")
    assert not wrong, "\n".join(wrong)


def test_const_says_what_a_pointer_shows_and_not_what_a_local_holds():
    value = r"(?:bool|int|u?int\d+_t|size_t|double|enum \w+)"
    wrong = found_in_code(rf"\n    +const {value} \w+ =[^;]*;")
    assert not wrong, "\n".join(wrong)


def test_includes_stand_in_order():
    # What a file is about first, then the project by name, then the system; a table (.def) stands where it is used.
    wrong = []
    for name in C_FILES:
        found = re.findall(r"^#include ([\"<])([^\">]+)[\">]", (ROOT / name).read_text(), re.M)
        found = [(mark, header) for mark, header in found if not header.endswith(".def")]
        project = [header for mark, header in found if mark == '"']
        system = [header for mark, header in found if mark == "<"]
        marks = "".join(mark for mark, _ in found)
        if "<" + '"' in marks or project[1:] != sorted(project[1:]) or system != sorted(system):
            wrong.append(name)
    assert not wrong, "\n".join(wrong)


def test_subjects_of_commits_are_short():
    if git("cat-file", "-t", LAST_LONG_SUBJECT).strip() != "commit":
        pytest.skip("no history here")
    subjects = git("log", "--no-merges", "--format=%s", f"{LAST_LONG_SUBJECT}..HEAD").splitlines()
    wrong = [subject for subject in subjects if len(subject) > SUBJECT_COLUMNS_MAX]
    assert not wrong, "\n".join(wrong)
