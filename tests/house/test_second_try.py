"""tools/test.py: what failed once is tried again, alone, and said so; what no chance explains is not."""

import pathlib
import shutil
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import second_try  # noqa: E402
import stages  # noqa: E402
import test as runner  # noqa: E402

ONCE = """
import pathlib
def test_{name}():
    path = pathlib.Path({path!r}) / "{name}"
    seen = path.exists()
    path.touch()
    assert seen, "{words}"
"""


@pytest.fixture
def folder(monkeypatch):
    (ROOT / "artifacts").mkdir(exist_ok=True)
    path = pathlib.Path(tempfile.mkdtemp(prefix="second-try-", dir=ROOT / "artifacts"))
    monkeypatch.setattr(stages, "LOGS", path)
    monkeypatch.setattr(runner, "FLAKY", path / "flaky.txt")
    yield path
    shutil.rmtree(path)


def failing_once(folder, *names, words="13.09 < 11", file="test_it.py"):
    """A file of tests each of which passes from the second time on."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(ONCE.format(name=name, path=str(folder), words=words) for name in names))
    return str(path.relative_to(ROOT))


def outcome(capsys, *made):
    """(exit status, the lines at the end) of a run of these stages."""
    runner.run_all(made)
    passed = runner.try_again(made)
    capsys.readouterr()
    status = runner.close(made, passed, 1)
    return status, capsys.readouterr().out.splitlines()


def in_python(name, *tests):
    stage = stages.pytest(name, "build", *tests, after=())
    stage.after = ()
    return stage


def test_what_failed_once_passes_on_the_second_try_and_is_named(folder, capsys):
    status, lines = outcome(capsys, in_python("good", failing_once(folder, "a")))
    assert status == 0
    assert lines[0].endswith("good: 1 on the second try"), lines
    assert lines[1].startswith("second try: ") and lines[1].endswith("::test_a: AssertionError: 13.09 < 11"), lines
    assert "1 stages passed, 0 did not, 1 on the second try" in lines[-2], lines
    assert lines[-1] == "tests: 1 passed, 0 failed"
    kept = (folder / "flaky.txt").read_text()
    assert "passed on the second try" in kept and "13.09 < 11" in kept and "1 passed" in kept
    assert "13.09" in (folder / "good.first.log").read_text()


def test_what_fails_twice_fails(folder, capsys):
    path = folder / "test_it.py"
    path.write_text("def test_a():\n    assert 1 == 2, 'never'\n")
    status, lines = outcome(capsys, in_python("bad", str(path.relative_to(ROOT))))
    assert status == 1 and any(line.startswith("FAILED ") and "never" in line for line in lines), lines
    assert "failed on the second try" in (folder / "flaky.txt").read_text()


@pytest.mark.parametrize(
    "words",
    [
        "==7==ERROR: AddressSanitizer: heap-use-after-free",
        "x.c:1:2: runtime error: signed integer overflow",
        "WARNING: ThreadSanitizer: data race",
        "server ended with -11:",
        "server ended with 99:",
        "CompletedProcess(args=[], returncode=-6)",
        "sums of workloads",
        "words of phase",
    ],
)
def test_a_grave_word_is_never_tried_again(folder, capsys, words):
    status, lines = outcome(capsys, in_python("grave", failing_once(folder, "a", words=words)))
    assert status == 1 and not (folder / "flaky.txt").exists(), lines


@pytest.mark.parametrize("words", ["server ended with -9:", "never: both", "a process ended by signal 15"])
def test_what_tests_do_themselves_is_no_grave_word(folder, capsys, words):
    status, _ = outcome(capsys, in_python("kills", failing_once(folder, "a", words=words)))
    assert status == 0


@pytest.mark.parametrize(
    "file", ["test_contract.py", "test_rights_of_roles.py", "tests/house/test_x.py", "tests/db/test_x.py"]
)
def test_contracts_rights_and_rules_are_never_tried_again(folder, capsys, file):
    status, _ = outcome(capsys, in_python("strict", failing_once(folder, "a", file=file)))
    assert status == 1


def test_three_may_be_chance_and_four_are_a_change(folder, capsys):
    assert outcome(capsys, in_python("three", failing_once(folder, "a", "b", "c")))[0] == 0
    assert outcome(capsys, in_python("four", failing_once(folder, "d", "e", "f", "g")))[0] == 1


def test_four_in_two_stages_are_a_change(folder, capsys):
    two = (
        in_python("one", failing_once(folder, "a", "b")),
        in_python("two", failing_once(folder, "c", "d", file="test_b.py")),
    )
    assert outcome(capsys, *two)[0] == 1


def test_a_stage_whose_runner_names_no_test_is_never_tried_again(folder, capsys):
    once = f"test -e {folder}/seen || {{ touch {folder}/seen; exit 1; }}"
    assert outcome(capsys, stages.Stage("units", "bash", "-c", once))[0] == 1


def test_a_test_that_is_fine_does_not_wash_off_a_stage_that_broke(folder, capsys):
    broken = stages.Stage("build", "false")
    assert outcome(capsys, broken, in_python("chance", failing_once(folder, "a")))[0] == 1


def in_node(folder, tests):
    """A stage of one file in which `seen` says whether it ran before."""
    path = folder / "tests/web/x.test.mjs"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"""import assert from "node:assert/strict";
import {{ existsSync, writeFileSync }} from "node:fs";
import {{ before, test }} from "node:test";
const seen = existsSync("{folder}/n");
writeFileSync("{folder}/n", "");
{tests}
"""
    )
    stage = stages.node("pages", str(path.relative_to(ROOT)), runner="node")
    stage.after = ()
    return stage


def test_a_file_of_node_is_tried_again_whole(folder, capsys):
    once = 'test("a page has what it has", () => assert.ok(seen, "in sight"));'
    status, lines = outcome(capsys, in_node(folder, f'test("one that stands", () => {{}});\n{once}'))
    assert status == 0 and any("x.test.mjs: a page has what it has: in sight" in line for line in lines), lines


def test_what_a_file_of_node_begins_with_fails_once_for_all_its_tests(folder, capsys):
    tests = "".join(f'test("page {i}", () => {{}});\n' for i in range(9))
    status, lines = outcome(capsys, in_node(folder, f'before(() => assert.ok(seen, "signed in"));\n{tests}'))
    assert status == 0 and any("page 8: signed in" in line for line in lines), lines


def test_the_end_of_a_run_fits_on_a_screen(folder, capsys):
    path = folder / "test_it.py"
    lines = "\\n".join("line" * 99 for _ in range(99))
    path.write_text("".join(f"def test_{i}():\n    assert False, '{lines}'\n" for i in range(9)))
    many = [stages.Stage(f"stage {i}", "true") for i in range(25)]
    status, lines = outcome(capsys, *many, in_python("bad", str(path.relative_to(ROOT))))
    assert status == 1 and len(lines) <= runner.LAST_LINES, len(lines)
    assert sum(line.startswith("FAILED ") for line in lines) == second_try.MOST + 1  # the stage, and three of its tests


def test_places_are_not_taken_twice(folder, capsys):
    wide = [stages.Stage(f"wide {i}", "true", places=runner.PLACES - i) for i in range(2)]
    wide[0].state = "runs"
    assert not runner.is_ready(wide[1], wide)
    wide[0].state = "passed"
    assert runner.is_ready(wide[1], wide)


def test_a_stage_is_in_each_kind_once():
    for kind in stages.KINDS.values():
        names = [stage.name for stage in kind()]
        assert len(names) == len({*names})
        assert all(name in names for stage in kind() for name in stage.after), names
