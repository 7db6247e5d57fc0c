#!/usr/bin/env bash
# Installs the packages that a folder's lock file pins, where it is newer than what is installed: tools/npm_packages.sh FOLDER
set -euo pipefail
tools=$(cd "$(dirname "$0")" && pwd)
cd "$tools/../$1"
exec 9>>.install.lock
flock 9
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    "$tools/three_tries.sh" npm ci --no-audit --no-fund --loglevel=error >&2
    touch node_modules/.package-lock.json
fi
