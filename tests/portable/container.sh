#!/usr/bin/env bash
# Builds the container of Containerfile and runs its program, and then what .devcontainer/devcontainer.json runs in it.
# The base image is made by debootstrap from Debian's packages, so no registry of images is needed.
#   container.sh SOURCE_FOLDER WORK_FOLDER
set -euo pipefail
source=$1 work=$2
for tool in buildah debootstrap git; do
  type "$tool" &>/dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
((EUID == 0)) || { echo "skipped: debootstrap needs root"; exit 0; }
git -C "$source" rev-parse --is-inside-work-tree &>/dev/null || { echo "skipped: the sources are no checkout of git"; exit 0; }
store() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
remove() { store rm -a &>/dev/null || true; store rmi -a -f &>/dev/null || true; rm -rf "$work/context"; }
fail() { echo "$*"; exit 1; }
mkdir -p "$work/context"
trap remove EXIT

base=$(sed -n 's/^FROM //p' "$source/Containerfile")
[[ $base == docker.io/library/debian:13 ]] || fail "this test knows only Debian 13, not $base"
[[ -e $work/debian/etc/debian_version ]] || debootstrap --variant=minbase trixie "$work/debian" >"$work/log" 2>&1 || fail "$(<"$work/log")"
container=$(store from scratch)
store add -q "$container" "$work/debian" / >/dev/null
store commit -q "$container" "$base" >/dev/null
store rm "$container" >/dev/null

# What a checkout contains, and a folder that .dockerignore leaves out.
git -C "$source" ls-files -co --exclude-standard -z | tar -C "$source" -c --null -T - | tar -x -C "$work/context"
mkdir -p "$work/context/build"
touch "$work/context/build/left-out"
store build --isolation chroot --pull=never -f "$work/context/Containerfile" -t heed "$work/context" >"$work/log" 2>&1 ||
  fail "$(tail -n 50 "$work/log")"

container=$(store from --pull=never localhost/heed)
in_container() { store run --isolation chroot "$container" -- "$@"; }
! in_container test -e /heed/build/left-out 2>/dev/null || fail ".dockerignore did not leave out build/"
entry=$(store inspect --format '{{index .OCIv1.Config.Entrypoint 0}}' "$container")
in_container "$entry" train configs/sort.toml --set train.steps=2 --run /tmp/run </dev/null >"$work/log" 2>&1 || fail "$(<"$work/log")"
! grep -q building "$work/log" || fail "the program was built again: $(<"$work/log")"

# Sources that the user can only read, in a folder with a space and an umlaut, are built in another such folder.
in_container sh -c 'mkdir -m 777 "/bau ä" && cp -R /heed "/ein Bäumchen" && rm -r "/ein Bäumchen/build" && chmod -R a-w,a+rX "/ein Bäumchen"'
in_container env HEED_BUILD="/bau ä" HOME=/tmp setpriv --reuid=65534 --regid=65534 --clear-groups "/ein Bäumchen/heed" \
  train "/ein Bäumchen/configs/sort.toml" --set train.steps=2 --run "/tmp/Läufe" </dev/null >"$work/log" 2>&1 || fail "$(<"$work/log")"
in_container test -e "/bau ä/release/bin/heed-trainer" || fail "HEED_BUILD has no program"

settings=$work/context/.devcontainer/devcontainer.json
value() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" "$settings"; }
[[ $(cd "${settings%/*}/$(value context)" && pwd) == "$(cd "$work/context" && pwd)" ]] || fail "context of $settings"
[[ "${settings%/*}/$(value dockerfile)" -ef $work/context/Containerfile ]] || fail "dockerfile of $settings"
command=$(value postCreateCommand)
[[ $command ]] || fail "$settings has no postCreateCommand"
in_container sh -c "$command" | grep -q '^heed [0-9]' || fail "postCreateCommand: $command"
echo "the program of the container trains, and .devcontainer names it"
