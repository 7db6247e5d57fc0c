#!/usr/bin/env bash
# Fuzzes every target for some seconds, starting from its corpus: tools/fuzz.sh SECONDS [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
tools/build.sh build-fuzz fuzz
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=($(cd tests/fuzz && ls fuzz_*.c | sed 's/\.c$//'))
for target in "${targets[@]}"; do
    echo "== $target for $seconds s"
    found=$(mktemp -d)
    "build-fuzz/$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="artifacts/$target-" "$found" "tests/fuzz/corpus/$target" 2>&1 | tail -8
    rm -rf "$found"
done
