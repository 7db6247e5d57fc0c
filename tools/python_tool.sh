#!/usr/bin/env bash
# Prints the folder of a Python tool's programs: tools/python_tool.sh NAME. The first call installs what
# tools/python/NAME.txt pins from PyPI, in an environment of its own below build/; the system's Python stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
list=tools/python/$1.txt
folder=build/python/$1
mkdir -p build/python
exec 9>"$folder.lock"
flock 9
if ! cmp -s "$list" "$folder/installed.txt"; then
    echo "Installing $(head -n 1 "$list") into $folder" >&2
    rm -rf "$folder"
    /usr/bin/python3 -m venv "$folder"
    tools/three_tries.sh "$folder/bin/pip" --quiet --disable-pip-version-check install --no-deps -r "$list" >&2
    cp "$list" "$folder/installed.txt"
fi
echo "$PWD/$folder/bin"
