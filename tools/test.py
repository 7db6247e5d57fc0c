#!/usr/bin/python3
"""Runs the tests: tools/test.py quick|all|sanitizers|threads|kubernetes|long. tools/stages.py says which.

Stages that share nothing run beside each other, each with its output in artifacts/stages/. A stage that fails ends
nothing but those that need it. At the end stands a line a stage with result, time and counts; then each failing test
with what it asserted and the end of what it said. A single test that failed is tried once more, alone, where
tools/second_try.py allows that; both outputs are in artifacts/flaky.txt."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import second_try
from stages import KINDS, LOGS, ROOT

PLACES = 4  # for two cores: most stages wait for disks and clocks half of the time
FLAKY = ROOT / "artifacts/flaky.txt"
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
LAST_LINES = 60  # what is read of a run first


def run(stage, command, log):
    """The exit status of a command in a stage's environment, and the seconds of a processor that it took; its output
    goes to the file log."""
    process = subprocess.Popen(
        ["timeout", "--kill-after=30", str(stage.limit_s), *command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, **ENVIRONMENT, **stage.environment},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 124:
        log.write(f"ended after {stage.limit_s} s\n".encode())
    return process.returncode, used.ru_utime + used.ru_stime


def run_stage(stage):
    begin = time.monotonic()
    with open(stage.log, "wb") as log:
        code, stage.cpu_s = run(stage, [*stage.command, *stage.given], log)
    stage.seconds = time.monotonic() - begin
    stage.counts = counts_in(stage.log.read_text(errors="replace"))
    stage.state = "passed" if code == 0 else "FAILED"
    stage.failures = [] if code == 0 else second_try.failures_of(stage)


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
    return passed, failed


def is_ready(stage, stages):
    states = {other.name: other.state for other in stages}
    running = [other for other in stages if other.state == "runs"]
    return (
        stage.state == "waits"
        and all(states[name] == "passed" for name in stage.after)
        and (not running or stage.places + sum(other.places for other in running) <= PLACES)
        and not any(other.shares and other.shares == stage.shares for other in running)
    )


def drop_hopeless(stages):
    states = {stage.name: stage.state for stage in stages}
    for stage in stages:
        if stage.state == "waits" and any(states[name] in ("FAILED", "not run") for name in stage.after):
            stage.state = "not run"


def run_all(stages):
    changed = threading.Condition()

    def work(stage):
        run_stage(stage)
        with changed:
            text = stage.log.read_text(errors="replace").rstrip() + "\n" if stage.state == "FAILED" else ""
            print(f"== {stage.name}: {stage.state}, {stage.seconds:.0f} s\n{text}", end="", flush=True)
            changed.notify_all()

    with changed:
        while any(stage.state in ("waits", "runs") for stage in stages):
            drop_hopeless(stages)
            ready = [stage for stage in stages if is_ready(stage, stages)]
            if ready:
                ready[0].state = "runs"
                print(f"-- {ready[0].name}", flush=True)
                threading.Thread(target=work, args=(ready[0],)).start()
            elif any(stage.state == "runs" for stage in stages):
                changed.wait()


def try_again(stages):
    """Tries what failed once more, test by test, with nothing beside it. Returns the failures that passed then."""
    failed = [stage for stage in stages if stage.state == "FAILED"]
    FLAKY.unlink(missing_ok=True)
    if any(stage.state == "not run" for stage in stages) or not second_try.may_be_tried(failed):
        return []
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    passed = []
    for stage in failed:
        shutil.copy(stage.log, stage.log.with_suffix(".first.log"))
        for target in dict.fromkeys(failure.target for failure in stage.failures):
            of_target = [failure for failure in stage.failures if failure.target == target]
            again, begin = stage.log.with_suffix(".second.log"), time.monotonic()
            with open(again, "wb") as log:
                code, _ = run(stage, [*stage.command, target], log)
            text = again.read_text(errors="replace")
            good = code == 0 and not second_try.GRAVE.search(text)
            passed += of_target if good else []
            with open(FLAKY, "a", encoding="utf-8") as file:
                for failure in of_target:
                    file.write(
                        f"{commit.stdout.strip()} {failure.test}: {'passed' if good else 'failed'} on the second try,"
                        f" {time.monotonic() - begin:.0f} s, load average {os.getloadavg()[0]:.1f}\n"
                        f"---- first\n{failure.text}\n---- second\n{text}\n"
                    )
        if all(failure in passed for failure in stage.failures):
            stage.state = "passed"
    return passed


def line_of(stage, passed):
    (good, bad), again = stage.counts, sum(failure in passed for failure in stage.failures)
    counts = [f"{good} passed"] if good or bad else []
    counts += [f"{bad - again} failed"] if stage.state == "FAILED" and bad else []
    counts += [f"{again} on the second try"] if again else []
    took = f"{stage.seconds:6.0f} s {stage.cpu_s:5.0f} CPU-s"
    return f"{stage.state:8}{took}  {stage.name}{': ' if counts else ''}{', '.join(counts)}"


def close(stages, passed, seconds):
    """Prints what the run came to in as many lines as are read first."""
    failures = [failure for stage in stages for failure in stage.failures if failure not in passed]
    lines = [line_of(stage, passed) for stage in stages]
    lines += [f"second try: {failure.test}: {failure.sentence}" for failure in passed]
    told = failures[: second_try.MOST]
    room = (LAST_LINES - len(lines) - 3) // max(1, len(told)) - 2
    for failure in told:
        text = [line[:200] for line in failure.text.rstrip().splitlines()]
        lines.append(f"FAILED {failure.test}: {failure.sentence[:200]}")
        lines += ["    " + line for line in text[-max(room, 3) :]]
    if len(failures) > len(told):
        lines.append(f"and {len(failures) - len(told)} more; all output is in artifacts/stages/")
    bad = sum(stage.state != "passed" for stage in stages)
    more = f", {len(passed)} on the second try (artifacts/flaky.txt)" if passed else ""
    lines.append(f"tests: {len(stages) - bad} stages passed, {bad} did not{more}, {seconds:.0f} s")
    good = sum(stage.counts[0] for stage in stages) + len(passed)
    lines.append(f"tests: {good} passed, {sum(stage.counts[1] for stage in stages if stage.state == 'FAILED')} failed")
    print("\n".join(lines), flush=True)
    return 1 if bad else 0


def main():
    stages = KINDS[sys.argv[1]]()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    begin = time.monotonic()
    # Under nohup it is ignored, and so it would be in every test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_all(stages)
    passed = try_again(stages)
    return close(stages, passed, time.monotonic() - begin)


if __name__ == "__main__":
    sys.exit(main())
