#!/usr/bin/env bash
# Tests that the scripts that a user runs contain nothing that bash 3.2 or the tools of BSD lack: macOS has these.
# The scripts of tests/ and .ci/ may need Linux. Tests also that the sources use what only one system or processor has
# in one file per concern, each with a definition for other systems (HEED_PLAIN_SYSTEM, tests/portable/plain.sh).
#   portable.sh SOURCE_FOLDER HEED      HEED is the program: its completion is such a script, too
set -euo pipefail
source=$1 heed=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scripts=(heed course/tutor/course.sh configs/catalogues course/minimal/try.sh bench/checkpoints course/site/site.sh course/site/xml.sh course/playground/playground.sh course/slides/slides.sh)

# One extended regular expression a line.
cat >"$work/forbidden" <<'END'
\$\{[A-Za-z_0-9@*]+(\[[^]]*\])?(\^|,|@[A-Za-z]\})
\b(mapfile|readarray|coproc|BASHPID|EPOCHSECONDS|EPOCHREALTIME)\b
\b(declare|local|typeset) +-[a-zA-Z]*[Angu]
\|&|&>>|;;&|;&
\[\[ +-[vR] |test -v
printf ['"]?%\(
\bexec +\{
\bwait +-n|\bread +-[a-zA-Z]*[iN]
\[[-+ ]*-[0-9]+\]
(==|!=|=) *[^ ]*[@?+!*]\(
\breadlink +-[a-z]*[fem]
\bsed +(-[a-zA-Z]+ +)*-[a-zA-Z]*i|\bsed .* -[a-z]*r\b
\bstat +-c|\bdate +(-d|--)|\btouch +-d|\bgrep +-[a-zA-Z]*P|\bsort +-[a-zA-Z]*V|\bhead +-n *-|\bxargs +-[a-z]*[dr]|\bcp +--
\bfind .*-(printf|quit|regextype|newermt|executable|readable)
(^|[;&|({] *|then +|do +|else +)(nproc|timeout|flock|realpath|tac|shuf|numfmt|setsid|setpriv|md5sum|sha[0-9]+sum|ionice|unshare)( |\)|$)
\bln +-[a-z]*[rT]|\bmktemp +-p|\bmktemp +--|\bdu +-[a-z]*b|\bbase64 +-w|\bps +--
(^|[^+])"\$\{(packages|unbound)\[@\]\}"
END

# Prints the lines of a file, without comments, that contain a forbidden construct.
find_forbidden() { sed 's/^ *#.*//; s/  # .*//' "$1" | grep -nE -f "$work/forbidden" || true; }

# Each construct is found.
while IFS= read -r line; do
  echo "$line" >"$work/line"
  [[ $(find_forbidden "$work/line") ]] || { echo "not found: $line"; exit 1; }
done <<'END'
echo "${name^^}"
echo "${name,,}"
echo "${name@Q}"
echo "${names[1]^}"
mapfile -t lines
declare -A table
local -n other=name
make |& cat
make &>>log
[[ -v name ]]
printf '%(%F)T'
exec {file}>log
wait -n
echo "${names[-1]}"
[[ $name == @(a|b) ]]
root=$(readlink -f "$0")
sed -i s/a/b/ file
sed -n -i s/a/b/ file
stat -c %s file
date -d tomorrow
touch -d yesterday file
grep -oP x file
find . -name x -print -quit
cores=$(nproc)
timeout 3 sleep 4
flock 9
if a; then flock -n 9; fi
a | tac
ln -sfnT a b
run "${packages[@]}"
END

"$heed" --completion >"$work/completion"
status=0
for script in "${scripts[@]/#/$source/}" "$work/completion"; do
  found=$(find_forbidden "$script")
  [[ ! $found ]] || { printf '%s has what bash 3.2 or BSD lacks:\n%s\n' "$script" "$found"; status=1; }
done

# The other scripts are only for developers, or for Gradescope, which has Linux.
while IFS= read -r script; do
  [[ " ${scripts[*]} .ci/run bench/inspect bench/newcomer packaging/release.sh course/gradescope/setup.sh course/gradescope/run_autograder " == *" ${script#"$source/"} "* ]] ||
    { echo "$script is missing in the list of portable.sh"; status=1; }
done < <(find "$source" \( -name build -o -name runs -o -name .git -o -name tests \) -prune -o -type f \
  -exec grep -lE -m1 '^#!.*\b(ba)?sh$' {} +)

of_one_system=(core/kernels/ core/processors.cpp core/system_memory.cpp apps/address_space.cpp
  apps/support/process.cpp apps/support/file_lock.cpp apps/support/files.cpp apps/support/machine.cpp)
words='__linux__|__GLIBC__|__x86_64__|__aarch64__|__APPLE__|HEED_PLAIN_SYSTEM|"/(proc|sys)/|<sys/(prctl|personality|inotify|file)\.h>'
words+='|\bF_OFD_|\b(pipe2|accept4|memfd_create|mallopt|malloc_trim|prctl|personality|renameat2|getrandom) ?\(|MAP_NORESERVE'
words+='|MADV_|_setaffinity|_getaffinity|\bcpu_set_t|SOCK_CLOEXEC|st_mtim\b|__rlimit_resource'
cd "$source"
found=$(grep -rnE --include='*.cpp' --include='*.h' "$words" core nn optim data apps lab course |
  grep -vE "^($(IFS='|'; echo "${of_one_system[*]}"))" || true)
[[ ! $found ]] || { printf 'only %s may use what one system has:\n%s\n' "${of_one_system[*]}" "$found"; status=1; }
for file in "${of_one_system[@]}"; do
  grep -qrE "$words" "$file" || { echo "$file uses nothing of one system: take it off the list of portable.sh"; status=1; }
done
exit "$status"
