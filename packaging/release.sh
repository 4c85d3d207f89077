#!/usr/bin/env bash
# Builds what is released, on Debian 12, by plain CMake:
#   heed-VERSION-linux-x86-64.tar.gz    programs that run on any Linux, one for each kind of processor, and the configs
#   heed_VERSION_amd64.deb              the same programs, and the library for C++
#   heed-VERSION-cp311-*.whl            the same programs, and the module of Python for each kind of processor
#   heed-VERSION-linux-aarch64.tar.gz   the program for ARM, cross-compiled
#   heed-VERSION-linux-*.cdx.json       the packages of Debian whose code is in the programs, by CycloneDX
#   SHA256SUMS
# The packages that it needs are in docs/install.md. The package's maintainer is DEBFULLNAME <DEBEMAIL>, if these are set.
#
#   release.sh OUTPUT_FOLDER BUILD_FOLDER [x86-64|aarch64]…    default: both
set -euo pipefail
source=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
mkdir -p "$1" "$2"
output=$(readlink -f "$1") builds=$(readlink -f "$2")
systems=("${@:3}")
((${#systems[@]})) || systems=(x86-64 aarch64)
newer_kinds=(x86-64-v4 x86-64-v3)  # the best first; bin/heed is built for the oldest
oldest_kind=x86-64-v2

in_cmake() { sed -nE "s/^$1 ?([^ )]*).*/\1/p" "$source/CMakeLists.txt"; }
version=$(in_cmake 'project\(heed VERSION')$(in_cmake 'set\(HEED_VERSION_SUFFIX')
maintainer="${DEBFULLNAME:-the heed authors} <${DEBEMAIL:-heed@example.org}>"
time=$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)

# build FOLDER OPTION…: the $targets, of which heed_program is FOLDER/bin/heed, with the commit of today.
build() {
  cmake -S "$source" -B "$1" -G Ninja -DHEED_STATIC=ON -DCMAKE_INSTALL_PREFIX=/usr \
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-Map=$1/map" "${@:2}" >/dev/null
  rm -f "$1"/*/heed_*_commit.cpp
  cmake --build "$1" --target "${targets[@]}" >"$1/log" || { cat "$1/log"; exit 1; }
}

# packages FOLDER ARCHITECTURE: of Debian, those of the headers that were compiled and of the libraries that the linker took
# code from. Packages of two architectures have the same header.
packages() {
  { grep -oE '^/[^ (]+\.a' "$1/map"; ninja -C "$1" -t deps | sed -n 's|^ *\(/usr/.*\)|\1|p'; } | sort -u |
    xargs readlink -e | sort -u | xargs dpkg-query -S 2>/dev/null | sed 's/: .*//' | tr ',' '\n' | tr -d ' ' |
    awk -F: -v own="$2" '!($1 in found) || $2 == own { found[$1] = $0 } END { for (name in found) print found[name] }' | sort
}

# bill FOLDER ARCHITECTURE: these packages with versions and licences, as JSON. A package whose list of licences cannot be read
# by a program has the name of its file in licenses/.
bill() {
  local package name separator='' licenses
  printf '{"bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1,\n'
  printf ' "metadata": {"component": {"type": "application", "name": "heed", "version": "%s", "licenses": [{"license": {"id": "MIT"}}]}},\n' "$version"
  printf ' "components": ['
  while read -r package; do
    name=${package%:*}
    licenses=$(sed -n 's/^License: *//p' "/usr/share/doc/$name/copyright" | sort -u)
    [[ $licenses ]] || licenses="see licenses/$name"
    printf '%s\n  {"type": "library", %s, "purl": "%s", "licenses": [%s]}' "$separator" \
      "$(dpkg-query -Wf '"name": "${Package}", "version": "${Version}"' "$package")" \
      "$(dpkg-query -Wf 'pkg:deb/debian/${Package}@${Version}?arch=${Architecture}' "$package" | sed 's/+/%2B/g')" \
      "$(sed 's/[\\"]/\\&/g; s/.*/{"license": {"name": "&"}}/; $!s/$/, /' <<<"$licenses" | tr -d '\n')"
    separator=,
  done < <(packages "$@")
  printf '\n]}\n'
}

# archive SYSTEM FOLDER BUILD ARCHITECTURE: heed-VERSION-linux-SYSTEM.tar.gz of the folder with the programs in bin and
# libexec, of which one was built in BUILD.
archive() {
  local package name=heed-$version-linux-$1
  ln -sfn bin/heed "$2/heed"
  cp "$source"/{LICENSE,README.md,CHANGELOG.md} "$2"
  git -C "$source" ls-files -z configs docs | tar -C "$source" -c --null -T - | tar -x -C "$2"
  bill "$3" "$4" >"$output/$name.cdx.json"
  mkdir -p "$2/licenses"
  while read -r package; do
    cp -L "/usr/share/doc/${package%:*}/copyright" "$2/licenses/${package%:*}"
  done < <(packages "$3" "$4")
  tar -C "$2" -c --transform "flags=r;s|^\./*|$name/|" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=go=rX . |
    gzip -9n >"$output/$name.tar.gz"
}

x86_64() {
  local kind stage=$builds/stage root=$builds/root doc=$builds/root/usr/share/doc/heed wheel targets=(heed_program heed_python)
  rm -rf "$stage" "$root" "$builds/$oldest_kind/python"
  mkdir -p "$stage"/{bin,libexec}
  for kind in "${newer_kinds[@]}"; do
    build "$builds/$kind" -DHEED_ARCH="$kind" -DHEED_PYTHON=ON
    strip -o "$stage/libexec/heed-$kind" "$builds/$kind/bin/heed"
  done
  build "$builds/$oldest_kind" -DHEED_ARCH="$oldest_kind" -DHEED_PYTHON=ON -DHEED_SIBLINGS="$(IFS=';'; echo "${newer_kinds[*]}")"
  strip -o "$stage/bin/heed" "$builds/$oldest_kind/bin/heed"
  archive x86-64 "$stage" "$builds/$oldest_kind" amd64

  # The package: what cmake --install installs, arranged as Debian's policy asks.
  # HEED_KERNELS: it calls the program, which is not beside the others there.
  HEED_KERNELS=${oldest_kind##*-} DESTDIR=$root cmake --install "$builds/$oldest_kind" >/dev/null
  cp -r "$stage"/{bin,libexec} "$root/usr"
  find "$root" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} +
  rm -rf "$doc"
  mkdir -p "$doc/examples" "$root/usr/share/lintian/overrides"
  cp -r "$stage/configs" "$doc/examples"
  cp -r "$stage/licenses" "$doc"
  { printf 'heed, from its project.\n\n'; cat "$source/LICENSE"
    printf '\nThe programs contain code of the packages in /usr/share/doc/heed/licenses, under the licences there.\n'; } >"$doc/copyright"
  gzip -9nc "$source/CHANGELOG.md" >"$doc/changelog.gz"
  printf 'heed (%s-1) unstable; urgency=low\n\n  * See changelog.gz.\n\n -- %s  %s\n' "${version/-/\~}" "$maintainer" \
    "$(date -uRd "@$time")" |
    gzip -9n >"$doc/changelog.Debian.gz"
  gzip -9nf "$root/usr/share/man/man1/heed.1"
  cp "$source/packaging/lintian-overrides" "$root/usr/share/lintian/overrides/heed"
  chmod -R u=rwX,go=rX "$root"
  SOURCE_DATE_EPOCH=$time cpack --config "$source/packaging/deb.cmake" -D CPACK_INSTALLED_DIRECTORIES="$root;/" \
    -D CPACK_PACKAGE_VERSION="${version/-/\~}" -D CPACK_DEBIAN_PACKAGE_MAINTAINER="$maintainer" \
    -D CPACK_PACKAGE_DIRECTORY="$builds/cpack" >/dev/null
  mv "$builds"/cpack/*.deb "$output"

  # The wheel: that of the oldest kind, to which these add the others. heed/x86-64-v3 has the module for x86-64-v3.
  wheel=$(echo "$builds/$oldest_kind"/python/heed-*)
  for kind in "${newer_kinds[@]}"; do
    mkdir -p "$wheel/heed/$kind"
    strip -o "$wheel/heed/$kind"/_heed.so "$builds/$kind"/python/heed/_heed.*.so
  done
  mkdir -p "$wheel/${wheel##*/}.data/data"
  cp -r "$stage/libexec" "$wheel/${wheel##*/}.data/data"
  cp -r "$stage"/{LICENSE,licenses} "$wheel/${wheel##*/}.dist-info"
  SOURCE_DATE_EPOCH=$time cmake --build "$builds/$oldest_kind" --target wheel >"$builds/log"
  mv "$builds/$oldest_kind"/heed-*.whl "$output"
}

aarch64() {
  local libraries=/usr/lib/aarch64-linux-gnu stage=$builds/stage-aarch64 targets=heed_program
  build "$builds/aarch64" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DHEED_ARCH= \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu \
    -DOPENSSL_CRYPTO_LIBRARY=$libraries/libcrypto.a
  rm -rf "$stage"
  mkdir -p "$stage/bin"
  aarch64-linux-gnu-strip -o "$stage/bin/heed" "$builds/aarch64/bin/heed"
  archive aarch64 "$stage" "$builds/aarch64" arm64
}

for system in "${systems[@]}"; do
  "${system//-/_}"
done
cd "$output"
sha256sum heed* >SHA256SUMS
cat SHA256SUMS
