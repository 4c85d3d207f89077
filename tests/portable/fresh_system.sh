# For tests in fresh systems of Debian, to be sourced: needs debootstrap and root.
root=  # the system that fresh_system made last
trap remove_system EXIT
fail() { echo "$*"; exit 1; }

# fresh_system FOLDER SUITE: a copy of a minimal system, with /proc and /dev. The first one is made by debootstrap and kept
# in FOLDER/SUITE.
fresh_system() {
  local base=$1/$2
  mkdir -p "$1"
  [[ -e $base/complete ]] || {
    rm -rf "$base"
    debootstrap --variant=minbase "$2" "$base" >"$1/log" 2>&1 || fail "$(tail -n 5 "$1/log")"
    touch "$base/complete"
  }
  root=$base-copy
  rm -rf --one-file-system "$root"
  cp -a "$base" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --make-rslave "$root/dev"
}
# in_system COMMAND: as root, with no other environment.
in_system() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -c "$1" </dev/null
}
remove_system() {
  [[ $root ]] || return 0
  umount -R "$root/dev" "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
  root=
}

for tool in debootstrap git; do
  type "$tool" &>/dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
((EUID == 0)) || { echo "skipped: debootstrap needs root"; exit 0; }
git -C "$source" rev-parse --is-inside-work-tree &>/dev/null || { echo "skipped: the sources are no checkout of git"; exit 0; }
