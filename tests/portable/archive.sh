#!/usr/bin/env bash
# Makes the archive and the package for x86-64 (packaging/release.sh) and tries them where nothing is installed: the archive
# trains in fresh systems of Debian 11, 12 and 13 with the kernels for each kind of processor that this one can be, and in an
# emulator of older ones. It has the bits of HEED, this machine's program, if that has the same kernels. The package is
# installed in Debian 12 and removed, and the wheel passes its tests there. Prints the seconds of each training.
#   archive.sh SOURCE_FOLDER WORK_FOLDER HEED
set -euo pipefail
source=$1 work=$2 heed=$3
here=$(dirname "$(readlink -f "$0")")
. "$here/fresh_system.sh"
mkdir -p "$work"
rm -rf "$work"/{output,unpacked}
"$source/packaging/release.sh" "$work/output" "$work/build" x86-64
archive=$(echo "$work"/output/heed-*-linux-x86-64.tar.gz) package=$(echo "$work"/output/heed_*.deb)
(cd "$work/output" && sha256sum --quiet -c SHA256SUMS)
mkdir "$work/unpacked"
tar -xf "$archive" -C "$work/unpacked" --strip-components=1
cd "$work/unpacked"

kernels() { sed -n 's/^kernels: //p'; }
best=$(./heed --version | kernels)
kinds=(v2)
[[ $best == x86-64-v2 ]] || kinds+=(v3)
[[ $best != x86-64-v4 ]] || kinds+=(v4)
for kind in "${kinds[@]}"; do
  [[ $(HEED_KERNELS=$kind ./heed --version | kernels) == x86-64-$kind ]] || fail "HEED_KERNELS=$kind: $(HEED_KERNELS=$kind ./heed --version)"
done
! strings -a bin/heed libexec/heed-* | grep -F "$source" || fail "the programs contain a path of this machine"

# What heed finds out about its own program: a sweep starts it again, and `heed` by another name is called by that name.
train=(train configs/reverse.toml --set train.steps=20 --set data.val_size=20 --set data.test_size=20)
ln -s "$PWD/heed" "$work/unpacked/by another name"
"./by another name" sweep --config configs/reverse.toml --axis optim.lr=1e-3 --run "$work/unpacked/sweep" \
  --set train.steps=2 --set data.val_size=20 --set data.test_size=20 >"$work/log" 2>&1 || fail "$(<"$work/log")"
grep -q "\"kernels\": \"$best\"" sweep/*/run.json sweep/*/*/run.json 2>/dev/null || fail "a run of a sweep has other kernels than $best"

# The bits of a build for this machine.
"$heed" "${train[@]}" --run native >"$work/log" 2>&1 || fail "$(<"$work/log")"
own=$("$heed" --version | kernels)
HEED_KERNELS=${own#x86-64-} ./heed "${train[@]}" --run own >"$work/log" 2>&1 || fail "$(<"$work/log")"
cmp {native,own}/checkpoints/latest/model.safetensors
echo "the bits of $own are those of $heed"

# An emulator runs what it is given, but a program that becomes another one leaves it. So GOMP_SPINCOUNT is set, for which
# heed starts itself again, and the program for x86-64-v3 is given at once.
if type qemu-x86_64 &>/dev/null; then
  export GOMP_SPINCOUNT=1000
  [[ $(qemu-x86_64 -cpu Nehalem bin/heed --version | kernels) == x86-64-v2 ]] || fail "another choice on Nehalem"
  [[ $best == x86-64-v2 || $(qemu-x86_64 -cpu Haswell bin/heed --version | kernels) == x86-64-v3 ]] || fail "another choice on Haswell"
  ! HEED_KERNELS=v4 qemu-x86_64 -cpu Haswell bin/heed --version &>"$work/log" || fail "HEED_KERNELS=v4 is accepted on Haswell"
  for run in "Nehalem bin/heed" "Haswell libexec/heed-x86-64-v3"; do
    seconds=$SECONDS
    qemu-x86_64 -cpu $run "${train[@]}" --set train.batch_size=4 --set model.dim=16 --set model.feed_forward=32 --set threads=1 --run "emulated ${run% *}" >"$work/log" 2>&1 || fail "$run: $(<"$work/log")"
    echo "$run: $((SECONDS - seconds)) s for 20 steps in an emulator"
  done
  unset GOMP_SPINCOUNT
else
  echo "there is no qemu-x86_64: older processors are left out"
fi

for suite in bullseye bookworm trixie; do
  fresh_system "$work/systems" $suite
  cp "$archive" "$root/root"
  in_system "cd && tar -xzf *.tar.gz && mv heed-*/ heed"
  for kind in "${kinds[@]:1}"; do
    seconds=$SECONDS
    in_system "cd ~/heed && HEED_KERNELS=$kind ./heed train configs/reverse.toml --set train.steps=1000 --run $kind" >"$work/log" 2>&1 ||
      fail "$suite, $kind: $(tail -n 20 "$work/log")"
    echo "$suite: $((SECONDS - seconds)) s for 1,000 steps with the kernels for x86-64-$kind"
  done
  if [[ $suite == bookworm ]]; then
    files() { (cd "$root" && find . -path ./proc -prune -o -path ./dev -prune -o -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -print | sort); }
    files >"$work/before"
    cp "$package" "$root/heed.deb"
    in_system "dpkg -i /heed.deb && rm /heed.deb && cd /tmp && heed --version &&
      heed train /usr/share/doc/heed/examples/configs/sort.toml --set train.steps=20 --run run && rm -r run" >"$work/log" 2>&1 || fail "$(<"$work/log")"
    grep -qx "kernels: $best" "$work/log" || fail "the package has other kernels: $(<"$work/log")"
    in_system "dpkg --purge heed" >"$work/log" 2>&1 || fail "$(<"$work/log")"
    diff "$work/before" <(files) || fail "the package leaves files"
    echo "$suite: the package was installed and removed"

    # The wheel: from Python, each kind of kernels has the bits of the program with the same kernels.
    in_system "apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-venv python3-numpy" >"$work/log" 2>&1 || fail "$(<"$work/log")"
    git -C "$source" archive HEAD tests/python docs configs | tar -x -C "$root/root"
    cp "$work"/output/heed-*.whl "$root/root"
    in_system "cd && tests/python/run.sh heed-*.whl" >"$work/log" 2>&1 || fail "$suite: the wheel: $(<"$work/log")"
    for kind in "${kinds[@]}"; do
      in_system "cd && HEED_KERNELS=$kind tests/python/run.sh heed-*.whl python3 test_heed.Training.test_bits_are_those_of_the_command" >"$work/log" 2>&1 ||
        fail "$suite: the wheel with $kind: $(<"$work/log")"
    done
    echo "$suite: the wheel passes its tests"
  fi
  remove_system
done
if type lintian &>/dev/null; then
  lintian --fail-on error,warning "$package"
fi
echo "the archive, the package and the wheel work"
