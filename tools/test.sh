#!/usr/bin/env bash
# Runs the tests: tools/test.sh quick|all|long. Each stage prints its own figures; the first failing stage ends the run
# with its name. Black-box tests run against the build with AddressSanitizer and UndefinedBehaviorSanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-all}
export ASAN_OPTIONS=abort_on_error=0:exitcode=99:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS="exitcode=98 suppressions=$PWD/tests/tsan.supp"
mkdir -p artifacts

stage() {
    echo "== $1"
    shift
    "$@" || { echo "tests: failed: $*" >&2; exit 1; }
}

unit() { # folder, further arguments for ctest
    local folder=$1
    shift
    ctest --test-dir "$folder" --output-on-failure -j 2 "$@"
}

python_tests() {
    PRORATA=$PWD/$1/prorata /usr/bin/python3 -m pytest -q -p no:cacheprovider "${@:2}"
}

browser_tests() { # folder; one file at a time, for each runs a browser
    PRORATA=$PWD/$1/prorata node --test --test-concurrency=1 tests/web/*.test.mjs
}

node_units() {
    # shellcheck disable=SC2046
    node --test $(ls tests/web/unit/*.mjs)
}

case "$mode" in
quick)
    stage "build" tools/build.sh build
    stage "unit tests" unit build -LE long
    stage "house rules" python_tests build tests/house
    stage "dashboard units" node_units
    stage "simulate and the rules of scheduling" python_tests build tests/cli/test_simulate.py tests/scheduler tests/replay
    ;;
all | long)
    stage "build" tools/build.sh build
    stage "build with AddressSanitizer and UndefinedBehaviorSanitizer" tools/build.sh build-asan address
    stage "unit tests, conformance and fuzz corpora" unit build-asan -LE long
    stage "house rules" python_tests build tests/house
    stage "API and migrations" python_tests build-asan tests/api tests/db
    stage "command line and the rules of scheduling" python_tests build-asan tests/cli tests/scheduler tests/replay
    stage "walk-throughs and faults" python_tests build-asan tests/e2e
    stage "the local backend" python_tests build-asan -n 3 --dist loadfile tests/local
    stage "rounds of faults" python_tests build-asan tests/faults
    stage "scenarios on both backends, decision by decision" python_tests build-asan tests/scenarios
    stage "build with ThreadSanitizer" tools/build.sh build-tsan thread
    stage "threads" unit build-tsan -L 'db|reconciler|backends|api' -LE long
    stage "threads of the whole server" python_tests build-tsan tests/threads
    stage "dashboard units" node_units
    stage "API pages in a browser" python_tests build tests/browser
    stage "dashboard in a browser" browser_tests build
    ;;&
long)
    stage "long unit tests" unit build-asan -L long
    stage "long walk-throughs" env PRORATA_LONG=1 PRORATA="$PWD/build-asan/prorata" /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/e2e
    stage "many rounds of faults" env PRORATA_LONG=1 PRORATA="$PWD/build-asan/prorata" /usr/bin/python3 -m pytest -q -s -p no:cacheprovider tests/faults
    stage "random clusters decided twice" env PLAIN_CLUSTERS=5000 PRORATA="$PWD/build/prorata" /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/scheduler/test_plain_scheduler.py
    stage "coverage of the scheduler" tools/coverage.sh
    stage "seeded bugs" tools/mutate.py
    stage "fuzzing" tools/fuzz.sh 600
    ;;
esac
echo "tests: all stages passed"
