#!/usr/bin/env bash
# Prints the folder of an API server of 1.26.15, as build.sh beside it does for the newest one. Debian 12's Go builds it
# beside Debian's etcd, as a site of that age has them; kwok and kubectl are the newest ones. Ten minutes on two cores,
# the first time; the packages are unpacked, not installed.
set -euo pipefail
cd "$(dirname "$0")"
version=v1.26.15
newest=$(../build.sh)
key=$( (cat go.mod go.sum ../apiserver/main.go build.sh && echo "$newest") | sha256sum | cut -c1-16)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/prorata
folder=$cache/kubernetes-1.26-$key
exec 9>"$cache/kubernetes-1.26.lock"
flock 9
if [ -d "$folder" ]; then
    echo "$folder"
    exit 0
fi

work=$(mktemp -d "$cache/kubernetes-build.XXXXXX")
# Modules are read-only files.
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
packages=(golang-1.19-go golang-1.19-src etcd-server)
mkdir "$work/packages" "$work/source" "$work/bin"
tries=$(realpath ../../../tools/three_tries.sh)
if ! (cd "$work/packages" && "$tries" apt-get -q -o APT::Sandbox::User=root download "${packages[@]}") >&2; then
    echo "Kubernetes 1.26 is built with packages of Debian 12: ${packages[*]}" >&2
    exit 1
fi
for package in "$work"/packages/*.deb; do
    dpkg -x "$package" "$work/debian"
done

echo "Building kube-apiserver $version into $folder: ten minutes" >&2
cp -r go.mod go.sum ../apiserver "$work/source"
export GOROOT=$work/debian/usr/lib/go-1.19 GOPATH=$work/go GOCACHE=$work/cache GOTMPDIR=$work GOTOOLCHAIN=local \
    GOFLAGS="-mod=readonly -buildvcs=false" CGO_ENABLED=0
names="-s -w"
for package in component-base/version client-go/pkg/version; do # its --version; what it tells clients
    names="$names -X k8s.io/$package.gitVersion=$version -X k8s.io/$package.gitMajor=1 -X k8s.io/$package.gitMinor=26"
done
(cd "$work/source" &&
    "$tries" "$GOROOT/bin/go" list -deps ./apiserver >/dev/null &&
    nice -n 10 "$GOROOT/bin/go" build -p=2 -trimpath -ldflags "$names" -o "$work/bin/kube-apiserver" ./apiserver) >&2
cp "$work/debian/usr/bin/etcd" "$work/bin"
ln -s "$newest/kwok" "$newest/kubectl" "$work/bin"
mv "$work/bin" "$folder"
echo "$folder"
