#!/usr/bin/env bash
# Builds heed without the packages that it can do without. The program trains, and names the package that a feature
# needs. A client of core finds fmt and BLAS, and looks for nothing else.
#   bare.sh SOURCE_FOLDER BUILD_FOLDER COMPILER
set -euo pipefail
source=$1 build=$2 compiler=$3
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*"; exit 1; }

without=()
for package in ZLIB SentencePiece Boost; do without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DHEED_CHART_JS= -DHEED_HTTPLIB= "${without[@]}" >log
cmake --build "$build" >>log || { cat log; exit 1; }
heed=$build/bin/heed
! ldd "$heed" | grep -E 'libz\.|sentencepiece' || fail "the program is linked with a package that it shall do without"

# refused WORDS COMMAND…: the command exits with 2, and its last line has these words.
refused() {
  local words=$1 status=0
  shift
  "$@" >output 2>&1 || status=$?
  [[ $status == 2 ]] || fail "exit code $status, expected 2: $*: $(<output)"
  [[ $(tail -n 1 output) == *"$words"* ]] || fail "expected '$words': $*: $(<output)"
}
train=("$heed" train config.toml --set train.steps=2 --set model.dim=16 --set train.evaluate_every=0)

"$heed" train "$source/configs/sort.toml" --set train.steps=2 >output 2>&1 || fail "$(<output)"

seq 2000 | sed 's/$/ the quick brown fox jumps over the lazy dog/' >text
printf '[model]\nkind = "language_model"\n[data]\nkind = "text"\npath = "text"\nlevel = "subword"\nmax_vocabulary = 300\n' >config.toml
refused SentencePiece "${train[@]}"
refused libsentencepiece-dev "${train[@]}"

# 64 images of 2 × 2 pixels, of two classes.
byte() { printf "\\x$(printf %02x "$1")"; }
be32() { byte 0; byte 0; byte $(($1 >> 8)); byte $(($1 & 255)); }
{ be32 2051; be32 64; be32 2; be32 2; for ((i = 0; i < 64; ++i)); do byte $i; byte $((255 * (i % 2))); byte $i; byte 0; done; } >images
{ be32 2049; be32 64; for ((i = 0; i < 64; ++i)); do byte $((i % 2)); done; } >labels
printf '[model]\nkind = "classifier"\n[data]\nkind = "images"\npath = "images"\ntarget_path = "labels"\npatch = 1\n' >config.toml
"${train[@]}" >output 2>&1 || fail "$(<output)"
gzip images
sed -i 's/"images"$/"images.gz"/; s/^kind = "images.gz"/kind = "images"/' config.toml
refused zlib1g-dev "${train[@]}"

"$heed" sweep --config "$source/configs/sort.toml" --axis optim.lr=1e-3,1e-4 --seeds 2 --set train.steps=2 \
  --run sweep >output 2>&1 || fail "$(<output)"
"$heed" compare sweep >output 2>&1 || fail "$(<output)"
grep -q 'no intervals.*libboost-dev' output || fail "compare does not say that there are no intervals: $(<output)"
! grep -qE '±|inf|nan|leans on' output || fail "compare without Boost.Math prints intervals: $(<output)"
"$heed" report sweep -o page.html >output 2>&1 || fail "$(<output)"
grep -q 'libboost-dev' page.html || fail "the page does not say that there are no intervals"

cmake --install "$build" --prefix "$work/prefix" >>log || { cat log; exit 1; }
cmake -S "$here/core_only" -B client -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" "${without[@]}" \
  -DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON >>log || { cat log; exit 1; }
cmake --build client >>log || { cat log; exit 1; }
[[ $(client/client) == "tensor([1, 2])" ]] || fail "the client of core prints $(client/client)"
