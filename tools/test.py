#!/usr/bin/python3
"""Runs the tests: tools/test.py quick|all|long.

Stages that share nothing run two at a time, each with its output in artifacts/stages/. A stage that fails ends nothing
but those that need it; at the end stands a line a stage: result, time, counts. Black-box tests run against the build
with AddressSanitizer and UndefinedBehaviorSanitizer."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "artifacts/stages"
AT_ONCE = 2
TEST_LIMIT_S = 900  # as the stages' limits: ends what hangs, and measures nothing
WITHOUT_KUBERNETES = bool(os.environ.get("PRORATA_NO_KUBERNETES"))
MACHINE = "machine"  # stages that fill this machine with pods, or look at all of its processes
ENVIRONMENT = {
    "ASAN_OPTIONS": "abort_on_error=0:exitcode=99:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": f"exitcode=98 suppressions={ROOT}/tests/tsan.supp",
}
# What a runner says of itself: passed, failed.
COUNTS = [
    re.compile(r"^(?P<rest>.*\b(?P<passed>\d+) passed.*)$", re.M),  # pytest
    re.compile(r"^\d+% tests passed, (?P<failed>\d+) tests failed out of (?P<all>\d+)", re.M),  # ctest
    re.compile(r"^(?:# |ℹ )pass (?P<passed>\d+)\n(?:# |ℹ )fail (?P<failed>\d+)", re.M),  # node
]


class Stage:
    def __init__(self, name, *command, after=(), shares=None, limit_s=2400, **environment):
        self.name, self.command, self.after, self.shares, self.environment = name, command, after, shares, environment
        self.limit_s = limit_s  # ends what hangs; measures nothing
        self.state, self.seconds, self.counts = "waits", 0, ""

    @property
    def log(self):
        return LOGS / (re.sub(r"\W+", "-", self.name.lower()) + ".log")

    def run(self):
        begin = time.monotonic()
        with open(self.log, "wb") as log:
            code = subprocess.run(
                ["timeout", "--kill-after=30", str(self.limit_s), *self.command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
                env={**os.environ, **ENVIRONMENT, **self.environment},
            ).returncode
            if code == 124:
                log.write(f"ended after {self.limit_s} s\n".encode())
        self.seconds = time.monotonic() - begin
        self.counts = counts_in(self.log.read_text(errors="replace"))
        self.state = "passed" if code == 0 else "FAILED"


def counts_in(text):
    passed = failed = 0
    for pattern in COUNTS:
        for found in pattern.finditer(text):
            groups = found.groupdict()
            if "rest" in groups:
                more = re.search(r"(\d+) failed", groups["rest"])
                errors = re.search(r"(\d+) error", groups["rest"])
                failed += (int(more[1]) if more else 0) + (int(errors[1]) if errors else 0)
            else:
                failed += int(groups["failed"])
            passed += int(groups["passed"]) if groups.get("passed") else int(groups["all"]) - int(groups["failed"])
    return f"{passed} passed, {failed} failed" if passed or failed else ""


def build(name, folder, *arguments):
    return Stage(name, "tools/build.sh", folder, *arguments)


def ctest(name, folder, *arguments, after, **more):
    return Stage(name, "ctest", "--test-dir", folder, "--output-on-failure", "-j", "2", *arguments, after=after, **more)


def pytest(name, folder, *arguments, after, within=(), **more):
    return Stage(
        name,
        *within,
        "/usr/bin/python3",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--timeout",
        str(TEST_LIMIT_S),
        *arguments,
        after=after,
        PRORATA=str(ROOT / folder / "prorata"),
        **more,
    )


def beside_api_server(name, programs, **more):
    return pytest(
        name,
        "build-asan",
        "tests/kubernetes/backend",
        "tests/kubernetes/test_cases.py",
        within=("tests/kubernetes/with_cluster.sh",),
        after=(ASAN, programs),
        **more,
    )


def real_kubernetes():
    if WITHOUT_KUBERNETES:
        return []
    return [
        Stage(KUBERNETES, "tests/kubernetes/build.sh"),
        beside_api_server("a real Kubernetes API server", KUBERNETES),
    ]


def old_kubernetes():
    """The oldest that is proven on a real API server."""
    if WITHOUT_KUBERNETES:
        return []
    hours = {"limit_s": 4 * 3600}
    return [
        Stage(OLD_KUBERNETES, "tests/kubernetes/v1.26/build.sh", after=(KUBERNETES,), **hours),
        beside_api_server("a real API server of 1.26", OLD_KUBERNETES, KUBE_VERSION="1.26", **hours),
    ]


def files(pattern):
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


KUBERNETES, OLD_KUBERNETES = "programs of a Kubernetes cluster", "programs of a cluster of Kubernetes 1.26"
BUILD, ASAN, TSAN = "build", "build with AddressSanitizer and UndefinedBehaviorSanitizer", "build with ThreadSanitizer"


# One file at a time, for each runs a browser.
def pages(name, **more):
    tests = files("tests/web/pages/*.test.mjs")
    build_folder = str(ROOT / "build/prorata")
    return Stage(name, "node", "--test", "--test-concurrency=1", *tests, after=(BUILD,), PRORATA=build_folder, **more)


def node_units():
    return Stage("dashboard units", "node", "--test", *files("tests/web/unit/*.mjs"), after=(BUILD,))


def node_types():
    web = "npm --prefix web run --silent"
    return Stage(
        "dashboard types and form",
        "bash",
        "-c",
        f"{web} check && {web} lint && {web} lint:openapi && node --test tests/web/types/types.test.mjs",
        after=(BUILD,),
    )


def python_form():
    return Stage("form of Python", "tools/lint_python.sh")


def c_form():
    return Stage("form of C", "bash", "-c", "git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror")


def quick():
    return [
        build(BUILD, "build"),
        ctest("unit tests", "build", "-LE", "long", after=(BUILD,)),
        pytest("house rules", "build", "tests/house", after=(BUILD,)),
        node_units(),
        node_types(),
        python_form(),
        c_form(),
        pytest(
            "simulate and the rules of scheduling",
            "build",
            "tests/cli/test_simulate.py",
            "tests/scheduler",
            "tests/replay",
            after=(BUILD,),
        ),
    ]


def whole():
    return [
        build(BUILD, "build"),
        build(ASAN, "build-asan", "address"),
        *real_kubernetes(),
        # The two longest come first, so that neither is left alone at the end.
        pytest("API and migrations", "build-asan", "tests/api", "tests/db", "tests/openid", after=(ASAN,)),
        pages("dashboard in a browser"),
        pytest("house rules", "build", "tests/house", after=(BUILD,)),
        node_units(),
        node_types(),
        python_form(),
        c_form(),
        pytest(
            "the local backend",
            "build-asan",
            "-n",
            "3",
            "--dist",
            "loadfile",
            "tests/local",
            after=(ASAN,),
            shares=MACHINE,
        ),
        ctest("unit tests, conformance and fuzz corpora", "build-asan", "-LE", "long", after=(ASAN,)),
        pytest(
            "the stand-in for Kubernetes",
            "build-asan",
            "tests/fakekube",
            "tests/kubernetes/test_cases.py",
            after=(ASAN,),
        ),
        pytest(
            "the Kubernetes backend",
            "build-asan",
            "-n",
            "3",
            "tests/kubernetes/backend",
            after=(ASAN,),
        ),
        pytest(
            "walk-throughs and faults",
            "build-asan",
            "tests/whole/e2e",
            "tests/whole/scripts",
            after=(ASAN,),
            shares=MACHINE,
        ),
        pytest(
            "command line and the rules of scheduling",
            "build-asan",
            "tests/cli",
            "tests/scheduler",
            "tests/replay",
            after=(ASAN,),
        ),
        pytest("rounds of faults", "build-asan", "tests/whole/faults", after=(ASAN,), shares=MACHINE),
        pytest(
            "scenarios on every backend, decision by decision",
            "build-asan",
            "tests/whole/scenarios",
            after=(ASAN,),
            shares=MACHINE,
        ),
        pytest("API pages in a browser", "build", "tests/web/api_pages", after=(BUILD,)),
        build(TSAN, "build-tsan", "thread"),
        ctest("threads", "build-tsan", "-L", "db|reconciler|backends|api", "-LE", "long", after=(TSAN,)),
        pytest("threads of the whole server", "build-tsan", "tests/whole/threads", after=(TSAN,)),
    ]


def long():
    hours = {"limit_s": 4 * 3600}
    return [
        *old_kubernetes(),
        ctest("long unit tests", "build-asan", "-L", "long", after=(ASAN,), **hours),
        pages("dashboard of a slow server", PRORATA_SLOW_API="500", **hours),
        Stage(
            "heap of a dashboard that is open for an hour",
            "node",
            "--test",
            *files("tests/web/long/*.mjs"),
            after=(BUILD,),
            **hours,
        ),
        pytest(
            "long walk-throughs",
            "build-asan",
            "tests/whole/e2e",
            after=(ASAN,),
            shares=MACHINE,
            PRORATA_LONG="1",
            **hours,
        ),
        pytest(
            "many rounds of faults",
            "build-asan",
            "-s",
            "tests/whole/faults",
            after=(ASAN,),
            shares=MACHINE,
            PRORATA_LONG="1",
            **hours,
        ),
        pytest(
            "random clusters decided twice",
            "build",
            "tests/scheduler/test_plain_scheduler.py",
            after=(BUILD,),
            PLAIN_CLUSTERS="5000",
            **hours,
        ),
        pytest(
            "many requests by schemathesis",
            "build-asan",
            "tests/api/test_schemathesis.py",
            "--timeout=7200",
            after=(ASAN,),
            PRORATA_EXAMPLES="100",
            **hours,
        ),
        Stage("coverage of the scheduler", "tools/coverage.sh", **hours),
        Stage("seeded bugs", "tools/mutate.py", after=(BUILD,), **hours),
        Stage("fuzzing", "tools/fuzz.sh", "600", **hours),
    ]


def is_ready(stage, stages):
    states = {other.name: other.state for other in stages}
    return (
        stage.state == "waits"
        and all(states[name] == "passed" for name in stage.after)
        and not any(other.state == "runs" and other.shares and other.shares == stage.shares for other in stages)
    )


def drop_hopeless(stages):
    states = {stage.name: stage.state for stage in stages}
    for stage in stages:
        if stage.state == "waits" and any(states[name] in ("FAILED", "not run") for name in stage.after):
            stage.state = "not run"


def run_all(stages):
    changed = threading.Condition()

    def work(stage):
        stage.run()
        with changed:
            print(
                f"== {stage.name}: {stage.state}, {stage.seconds:.0f} s\n"
                f"{stage.log.read_text(errors='replace').rstrip()}\n",
                flush=True,
            )
            changed.notify_all()

    with changed:
        while any(stage.state in ("waits", "runs") for stage in stages):
            drop_hopeless(stages)
            ready = [stage for stage in stages if is_ready(stage, stages)]
            running = sum(stage.state == "runs" for stage in stages)
            if ready and running < AT_ONCE:
                ready[0].state = "runs"
                print(f"-- {ready[0].name}", flush=True)
                threading.Thread(target=work, args=(ready[0],)).start()
            elif running:
                changed.wait()


def main():
    stages = {"quick": quick, "all": whole, "long": lambda: whole() + long()}[sys.argv[1]]()
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # under nohup it is ignored, and so it would be in every test
    run_all(stages)
    for stage in stages:
        print(f"{stage.state:8}{stage.seconds:6.0f} s  {stage.name}{': ' if stage.counts else ''}{stage.counts}")
    failed = sum(stage.state != "passed" for stage in stages)
    print(f"tests: {len(stages) - failed} stages passed, {failed} did not, {time.monotonic() - begin:.0f} s")
    if WITHOUT_KUBERNETES:
        print("not run, for PRORATA_NO_KUBERNETES is set: a real Kubernetes API server")
    return 1 if failed or (WITHOUT_KUBERNETES and os.environ.get("CI") == "true") else 0


if __name__ == "__main__":
    sys.exit(main())
