#!/usr/bin/env bash
# Configures (once) and builds: tools/build.sh FOLDER [address|thread|fuzz|coverage] [target...]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
sanitize=${2:-}
shift
[ $# -gt 0 ] && shift
options=(-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DSANITIZE=$sanitize")
if [ "$sanitize" = fuzz ] || [ "$sanitize" = coverage ]; then
    options+=(-DCMAKE_C_COMPILER=clang)
fi
if [ ! -f "$folder/build.ninja" ]; then
    cmake -S . -B "$folder" "${options[@]}" >/dev/null
fi
ninja -C "$folder" --quiet "$@"
