#!/usr/bin/env bash
# Runs a command beside four busy loops, as on a machine that others use: tools/load.sh COMMAND...
set -uo pipefail
loops=()
trap 'kill "${loops[@]}" 2>/dev/null' EXIT
for _ in 1 2 3 4; do
    while :; do :; done &
    loops+=($!)
done
"$@"
