#!/usr/bin/env bash
# How much of scheduler/ its tests reach: lines of all of it, branches of the files that divide and take away. Fails below
# what tools/coverage_report.py asks. The report with every line is artifacts/coverage/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh build-coverage coverage prorata
targets=$(ninja -C build-coverage -t targets all | sed -nE 's/^((scheduler|form|simulation)_[a-z_0-9]+_test|fuzz_cycle|fuzz_snapshot): .*/\1/p' | sort -u)
# shellcheck disable=SC2086
tools/build.sh build-coverage coverage prorata $targets
rm -rf build-coverage/profiles
export LLVM_PROFILE_FILE=$PWD/build-coverage/profiles/%4m.profraw
echo "== tests of scheduler, form and simulation"
ctest --test-dir build-coverage -j 2 --output-on-failure -L 'scheduler|form|simulation|fuzz' -R '^(scheduler|form|simulation)/|fuzz_(cycle|snapshot)$' -LE long | tail -4
PRORATA=$PWD/build-coverage/prorata /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/scheduler tests/cli/test_simulate.py
llvm-profdata merge -sparse -o build-coverage/all.profdata build-coverage/profiles/*.profraw
objects=(build-coverage/prorata)
for target in $targets; do
    objects+=(-object "build-coverage/$target")
done
llvm-cov show "${objects[@]}" -instr-profile=build-coverage/all.profdata -format=html -show-branches=count \
    -output-dir=artifacts/coverage scheduler >/dev/null
llvm-cov export "${objects[@]}" -instr-profile=build-coverage/all.profdata scheduler >build-coverage/coverage.json
/usr/bin/python3 tools/coverage_report.py build-coverage/coverage.json
