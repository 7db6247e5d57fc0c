#!/usr/bin/env bash
# Installs the Debian 12 packages that a purpose lacks, and says which: tools/deps.sh build [test]
set -euo pipefail

build_packages=(gcc libc6-dev make cmake ninja-build ccache pkg-config git ca-certificates python3 python3-yaml
    libcivetweb-dev libjansson-dev libjwt-dev libsqlite3-dev libsodium-dev libyaml-dev libcurl4-openssl-dev
    zlib1g-dev libssl-dev zopfli)
test_packages=(clang llvm clang-tidy clang-format libclang-rt-14-dev chromium chromium-headless-shell prometheus nginx-light sqlite3
    python3-pytest python3-pytest-xdist python3-pytest-timeout python3-hypothesis python3-jsonschema python3-venv gcovr wrk curl jq openssl procps strace util-linux
    openmpi-bin python3-mpi4py openssh-client openssh-server libnss-wrapper rsync)

wanted=()
for purpose in "$@"; do
    case "$purpose" in
    build) wanted+=("${build_packages[@]}") ;;
    test) wanted+=("${build_packages[@]}" "${test_packages[@]}") ;;
    *) echo "deps: unknown purpose $purpose" >&2; exit 2 ;;
    esac
done

# The dashboard is bundled by esbuild: any Node.js from 18 on will do, else Debian's.
node_major=$(node --version 2>/dev/null | sed -E 's/^v([0-9]+).*/\1/' || true)
if [ -z "$node_major" ] || [ "$node_major" -lt 18 ] || ! command -v npm >/dev/null; then
    wanted+=(nodejs npm)
fi

missing=()
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | awk '$2 == "installed" {print $1}' || true)
for package in $(printf '%s\n' "${wanted[@]}" | sort -u); do
    grep -qx "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

echo "Installing Debian packages: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "deps: these packages are missing, and neither root nor sudo is at hand" >&2; exit 1; }
    as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
fetch=("$(dirname "$0")/three_tries.sh" "${as_root[@]}")
"${fetch[@]}" apt-get update -qq
# Some packages start a service when they are installed; nothing here wants one running.
"${fetch[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
