#!/usr/bin/env bash
# Runs a command that fetches something, up to three times: tools/three_tries.sh COMMAND...
# A registry that does not answer once is no fault of the tree; one that never does is called so.
set -uo pipefail
for pause in 2 10 0; do
    "$@" && exit 0
    status=$?
    [ "$pause" -eq 0 ] || { echo "once more in $pause s: $*" >&2; sleep "$pause"; }
done
echo "network: not fetched after three tries: $*" >&2
exit "$status"
