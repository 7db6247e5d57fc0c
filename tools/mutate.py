#!/usr/bin/env python3
"""Do the scheduler's tests notice a mistake? Puts each seeded bug of tests/mutation/ into a copy of the tree,
one at a time, builds what changed and runs the fast tests until one fails. A bug that all of them pass needs a test; a
patch that does not fit any more fails as well. Arguments: --check (only whether the patches fit), or parts of names."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build-mutation"
TREE, BUILD = WORK / "tree", WORK / "build"
TARGETS = [
    "scheduler_unit_test",
    "scheduler_displaced_test",
    "scheduler_queue_order_test",
    "scheduler_check_test",
    "scheduler_node_rules_test",
    "scheduler_cases_test",
    "scheduler_plain_search_test",
    "scheduler_fair_share_test",
    "simulation_conformance_test",
    "simulation_random_documents_test",
    "scheduler_invariants_test",
    "prorata",
]
TESTS = [
    ("unit", ["scheduler_unit_test"]),
    ("queue order", ["scheduler_queue_order_test"]),
    ("node rules", ["scheduler_node_rules_test"]),
    ("displaced", ["scheduler_displaced_test"]),
    ("fair share", ["scheduler_fair_share_test", "20000"]),
    ("conformance", ["simulation_conformance_test"]),
    ("cases", ["scheduler_cases_test"]),
    ("rules", None),
    ("invariants", ["scheduler_invariants_test", "1", "500", "first"]),
    ("plain search", ["scheduler_plain_search_test"]),
    ("documents", ["simulation_random_documents_test", "100"]),
]
SECONDS = 300  # a test that takes longer has noticed


def load_mutants():
    mutants = []
    for path in sorted((ROOT / "tests/mutation").glob("mutants*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        mutants += module.MUTANTS
    return mutants


def pattern(old):
    """How the text is broken into lines does not matter."""
    return re.compile(r"\s+".join(re.escape(word) for word in old.split()))


def source_of(file, root=ROOT):
    """Names of files are unique in scheduler/, whichever of its rooms they stand in."""
    (found,) = (root / "scheduler").rglob(file)
    return found


def find_misfits(mutants):
    """{name: what is wrong with the patch}."""
    wrong = {}
    for name, file, old, new in mutants:
        count = len(pattern(old).findall(source_of(file).read_text()))
        if count != 1 or old == new:
            wrong[name] = f"stands {count} times in {file}"
    if len({name for name, *_ in mutants}) != len(mutants):
        sys.exit("two mutants have one name")
    return wrong


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def copy_tree():
    """What has not changed keeps its time, so that only the rest is built again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in TREE.rglob("*"):
        if (
            path.is_file()
            and not path.is_symlink()
            and "node_modules" not in path.parts
            and str(path.relative_to(TREE)) not in names
        ):
            path.unlink()
    for name in names:
        content, path = (ROOT / name).read_bytes(), TREE / name
        if name == "CMakeLists.txt":  # A mistake may leave something unused; that is not what should give it away.
            content = content.replace(b" -Werror", b"")
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod((ROOT / name).stat().st_mode)
    modules = TREE / "web/node_modules"
    if (ROOT / "web/node_modules").is_dir() and not modules.exists():
        modules.symlink_to(ROOT / "web/node_modules")


def build():
    return run(["ninja", "-C", str(BUILD), "--quiet", *TARGETS])


def first_failure():
    """The name of the test that noticed; None."""
    environment = dict(os.environ, PRORATA=str(BUILD / "prorata"), PLAIN_CLUSTERS="50")
    for name, command in TESTS:
        if command is None:
            command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/scheduler"]
        else:
            command = [str(BUILD / command[0]), *command[1:]]
        try:
            if run(command, cwd=TREE, env=environment, timeout=SECONDS).returncode != 0:
                return name
        except subprocess.TimeoutExpired:
            return name + " (without end)"
    return None


def try_mutant(file, old, new):
    path = source_of(file, TREE)
    text = path.read_text()
    path.write_text(pattern(old).sub(lambda _: new.strip(), text))
    try:
        built = build()
        if built.returncode != 0:
            return "does not compile:\n" + built.stdout[-2000:]
        return first_failure() or "NOBODY"
    finally:
        path.write_text(text)


def main():
    mutants = load_mutants()
    misfits = find_misfits(mutants)
    for name, problem in misfits.items():
        print(f"{name}: the patch does not fit any more: {problem}")
    if sys.argv[1:] == ["--check"]:
        sys.exit(1 if misfits else 0)
    chosen = [m for m in mutants if not sys.argv[1:] or any(part in m[0] for part in sys.argv[1:])]
    copy_tree()
    if not (BUILD / "build.ninja").exists():
        configured = run(["cmake", "-S", str(TREE), "-B", str(BUILD), "-G", "Ninja"])
        if configured.returncode != 0:
            sys.exit(configured.stdout)
    built = build()
    if built.returncode != 0:
        sys.exit(built.stdout)
    noticed = first_failure()
    if noticed:
        sys.exit(f"the tests fail without any mutant: {noticed}")
    failed = []
    for name, file, old, new in chosen:
        start = time.monotonic()
        by = "does not fit" if name in misfits else try_mutant(file, old, new)
        print(f"{name:<56}{file:<20}{by}  ({time.monotonic() - start:.0f} s)", flush=True)
        if by == "NOBODY" or by.startswith("does not"):
            failed.append(name)
    print(f"{len(chosen)} mutants, {len(chosen) - len(failed)} noticed")
    if failed:
        sys.exit("not noticed: " + "; ".join(failed))


main()
