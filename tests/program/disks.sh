#!/usr/bin/env bash
# Disks that are full, folders that cannot be written, clocks that jump, and two programs in one folder.
#
#   disks.sh PROGRAM LIBRARY [DISKS [SEED]]    LIBRARY: tests/program/faults.cpp; DISKS: how many full ones to try (default: 10)
#
# A training, a sweep, an archive, a page or an ONNX file is written to a disk of random size. If it does not fit, the program
# ends with one line and exit code 1, and after the disk has grown the same command has the bits that it has without a limit.
# Full disks and folders that cannot be written need root.
set -euo pipefail
if [[ ! ${HEED_OWN_MOUNTS-} && $EUID == 0 ]] && unshare -m true 2>/dev/null; then
  HEED_OWN_MOUNTS=yes exec unshare -m --propagation private "$BASH" "$0" "$@"
fi
program=$(readlink -f "$1") library=$(readlink -f "$2")
disks=${3:-10}
RANDOM=${4:-1}
source "$(dirname "$(readlink -f "$0")")/runs.sh"
call() { "$program" "$@" >out 2>err; }
ok() { call "$@" || { cat err >&2; fail "heed $*: failed"; }; }
one_error() { [[ $(grep -c '^error: ' err) == 1 && $(tail -n 1 err) == error:* ]]; }

ok train tiny.toml --run whole
ok sweep grid.toml --run sweep --jobs 2
summary="0 full disks, no folder that cannot be written (not root)"
if [[ ${HEED_OWN_MOUNTS-} ]]; then
  trap 'umount -l "$work/full" "$work/fixed" 2>/dev/null || true; rm -rf "$work"' EXIT
  # write KIND FOLDER: writes an output.
  kinds=(training sweep page archive onnx)
  write() {
    case $1 in
      training) call train tiny.toml --resume --run "$2/run" ;;
      sweep) call sweep grid.toml --run "$2/sweep" --jobs 1 ;;
      page) call report whole --output "$2/page.html" ;;
      archive) call pack sweep --output "$2/runs.tgz" ;;
      onnx) call export whole --output "$2/model.onnx" ;;
    esac
  }
  # same KIND A B: fails unless both are the same output. An archive has times in it, and a page what it measures.
  same() {
    case $1 in
      training) same_run "$2/run" "$3/run" ;;
      sweep) same_sweep "$2/sweep" "$3/sweep" ;;
      page) [[ $(tail -c 8 "$3/page.html") == "</html>" ]] ;;
      archive) diff <(tar -tzf "$2/runs.tgz" | sort) <(tar -tzf "$3/runs.tgz" | sort) ;;
      onnx) cmp "$2/model.onnx" "$3/model.onnx" ;;
    esac
  }
  declare -A needs
  mkdir all full
  for kind in "${kinds[@]}"; do
    mkdir "all/$kind"
    write $kind "all/$kind" || { cat err >&2; fail "$kind: fails on a disk that is not full"; }
    needs[$kind]=$(du -sk "all/$kind" | cut -f 1)
  done
  was_full=0
  for ((disk = 0; disk < disks; ++disk)); do
    kind=${kinds[disk % ${#kinds[@]}]}
    size=$((4 + (RANDOM * 32768 + RANDOM) % (${needs[$kind]} + 8)))
    mount -t tmpfs -o size=${size}k none full
    status=0
    write $kind full || status=$?
    case $status in
      0) ;;
      1)
        [[ $kind == sweep ]] || one_error || { cat err >&2; fail "$kind: more than one line on a full disk of $size KiB"; }
        was_full=$((was_full + 1))
        if [[ $kind != training && $kind != sweep ]]; then
          [[ -z $(ls -A full) ]] || fail "$kind: leaves $(ls -A full) on a full disk of $size KiB"
        fi ;;
      *) cat err >&2; fail "$kind: exit code $status on a full disk of $size KiB" ;;
    esac
    mount -o remount,size=1g full
    if ((status)); then
      if [[ $kind == sweep ]]; then call sweep grid.toml --run full/sweep --jobs 1 --retry-failed; else write $kind full; fi ||
        { cat err >&2; fail "$kind: fails after the full disk of $size KiB has grown"; }
    fi
    same $kind "all/$kind" full >&2 || fail "$kind: differs after a full disk of $size KiB"
    [[ -z $(find full -name '.tmp*') ]] || fail "$kind: leaves $(find full -name '.tmp*') after a full disk of $size KiB"
    umount full
  done

  # A run and a sweep in a folder that cannot be written: what reads answers as before, what writes says so in one line.
  mkdir fixed
  cp -a whole sweep fixed
  mount --bind fixed fixed
  mount -o remount,ro,bind fixed
  echo 'a b' >lines
  readers=("evaluate fixed/whole" "generate fixed/whole --input lines" "summary fixed/whole" "config fixed/whole" "data fixed/whole"
    "compare fixed/sweep" "report fixed/whole --output page.html" "pack fixed/sweep --output a.tgz" "attend fixed/whole"
    "inspect fixed/whole heads" "export fixed/whole --output a.onnx")
  for command in "${readers[@]}"; do
    moved=${command//fixed\//}
    code=0 there=0
    call $moved || code=$?
    sed 's|fixed/||g' out >out.1
    rm -f page.html a.tgz a.onnx
    call $command || there=$?
    [[ $there == "$code" ]] || { cat err >&2; fail "heed $command: exit code $there in a folder that cannot be written, $code elsewhere"; }
    [[ $command == summary* ]] || diff out.1 <(sed 's|fixed/||g' out) >&2 || fail "heed $command: another answer in a folder that cannot be written"
    rm -f page.html a.tgz a.onnx
  done
  for command in "train --resume --run fixed/whole --set train.steps=60" "train tiny.toml --run fixed/new" \
    "sweep grid.toml --run fixed/sweep --axis optim.lr=1e-3,5e-3" "report whole --output fixed/page.html" \
    "pack sweep --output fixed/a.tgz" "export whole --output fixed/a.onnx"; do
    code=0
    call $command || code=$?
    ((code == 1 || code == 2)) && one_error || { cat err >&2; fail "heed $command: exit code $code in a folder that cannot be written"; }
  done
  umount fixed
  summary="$was_full of $disks disks were full, ${#readers[@]} commands read and 6 do not write where they cannot"
fi

# The clock jumps at each reading. FAULT_FOLDER is empty: no call fails.
export FAULT_CLOCK=yes
LD_PRELOAD=$library call train tiny.toml --run jumps || { cat err >&2; fail "a clock that jumps: the training fails"; }
LD_PRELOAD=$library call sweep grid.toml --run jumping --jobs 2 || { cat err >&2; fail "a clock that jumps: the sweep fails"; }
for command in "report jumps --output jumps.html" "compare jumping" "evaluate jumps" "train --resume --run jumps --set train.steps=40"; do
  LD_PRELOAD=$library call $command || { cat err >&2; fail "a clock that jumps: heed $command fails"; }
done
unset FAULT_CLOCK
same_run whole jumps >&2 || fail "a clock that jumps changes a training"
same_sweep sweep jumping >&2 || fail "a clock that jumps changes a sweep"

# two NAME COMMAND…: two calls at once. Each ends well or with one line: code 2, or 1 where both write a file of this name.
two() {
  local name=$1 first second code
  shift
  "$program" "$@" >out.1 2>err.1 &
  first=$!
  "$program" "$@" >out 2>err &
  second=$!
  for job in $first $second; do
    code=0
    wait $job || code=$?
    [[ $code == [012] ]] || { cat err.1 err >&2; fail "two calls of heed $name at once: exit code $code"; }
    [[ $code != 1 || $name == @(pack|report|export) ]] || { cat err.1 err >&2; fail "two calls of heed $name at once: exit code 1"; }
  done
  for said in err err.1; do
    (($(grep -c '^error: ' $said || true) <= 1)) || { cat $said >&2; fail "two calls of heed $name at once: more than one line"; }
  done
}
for ((try = 0; try < 5; ++try)); do
  rm -rf both both.tgz both.html both.onnx
  two train train tiny.toml --resume --run both
  same_run whole both >&2 || fail "two trainings in a folder change it"
  rm -rf both
  two sweep sweep grid.toml --run both --jobs 1
  same_sweep sweep both >&2 || fail "two sweeps in a folder change it"
  two pack pack sweep --output both.tgz
  tar -tzf both.tgz >/dev/null || fail "two archives of a name damage it"
  two report report whole --output both.html
  [[ $(tail -c 8 both.html) == "</html>" ]] || fail "two pages of a name damage it"
  two export export whole --output both.onnx
  two evaluate evaluate both
done
[[ -z $(find . -name '.tmp*') ]] || fail "two programs leave $(find . -name '.tmp*')"
echo "$summary; clocks that jump and two programs in a folder change nothing"
