#!/usr/bin/env bash
# Fuzzes every target for some seconds, two at once: tools/fuzz.sh SECONDS [TARGET...]
# It starts from the corpus and from what earlier runs found, which a cache keeps: short runs add up.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
tools/build.sh build-fuzz fuzz
mkdir -p artifacts
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=($(cd tests/fuzz && ls fuzz_*.c | sed 's/\.c$//'))

fuzz() {
    local seconds=$1 target=$2 found log status=0
    found=${XDG_CACHE_HOME:-$HOME/.cache}/prorata/fuzz/$target
    log=artifacts/$target.log
    mkdir -p "$found"
    "build-fuzz/$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="artifacts/$target-" "$found" "tests/fuzz/corpus/$target" >"$log" 2>&1 || status=$?
    # In one piece, for another target prints beside it.
    printf '== %s for %s s, %s inputs kept: status %s\n%s\n' \
        "$target" "$seconds" "$(ls "$found" | wc -l)" "$status" "$(tail -8 "$log")"
    return "$status"
}
export -f fuzz
printf '%s\0' "${targets[@]}" | xargs -0 -P 2 -n 1 bash -c 'fuzz "$@"' fuzz "$seconds"
