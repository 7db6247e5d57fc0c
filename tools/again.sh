#!/usr/bin/env bash
# Runs one test 20 or N times beside load and says how often it failed: tools/again.sh TEST [N]
# TEST is a test or file of pytest, a tests/web/**/*.mjs, or a name of ctest such as reconciler/crash_test.
# $PRORATA (build/prorata) is the server; tests in C are those of its folder.
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
test=$1 times=${2:-20}
export PRORATA=${PRORATA:-$PWD/build/prorata}
case $test in
*.mjs) command=(node --test "$test") ;;
tests/*.py*) command=(/usr/bin/python3 -m pytest -q -p no:cacheprovider "$test") ;;
*) command=(ctest --test-dir "$(dirname "$PRORATA")" --output-on-failure -R "^$test\$" --no-tests=error) ;;
esac
mkdir -p artifacts
failed=0
for ((i = 1; i <= times; i++)); do
    if tools/load.sh "${command[@]}" >artifacts/again.log 2>&1; then
        printf .
    else
        failed=$((failed + 1))
        cp artifacts/again.log "artifacts/again-$i.log"
        printf 'F(artifacts/again-%d.log)' "$i"
    fi
done
echo
echo "$test: $failed of $times failed"
[ "$failed" -eq 0 ]
