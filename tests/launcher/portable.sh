#!/usr/bin/env bash
# Tests that the scripts that a user runs contain nothing that bash 3.2 or the tools of BSD lack: macOS has these.
# The scripts of tests/ and .ci/ may need Linux.
#   portable.sh SOURCE_FOLDER HEED      HEED is the program: its completion is such a script, too
set -euo pipefail
source=$1 heed=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

scripts=(heed configs/catalogues bench/checkpoints)

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

# Every other script without a suffix is one of Python or Node.js, or only for developers.
while IFS= read -r script; do
  [[ " ${scripts[*]} .ci/run " == *" ${script#"$source/"} "* ]] ||
    { echo "$script is missing in the list of portable.sh"; status=1; }
done < <(find "$source" \( -name build -o -name runs -o -name .git -o -name tests \) -prune -o -type f \
  -exec grep -lE -m1 '^#!.*\b(ba)?sh$' {} +)
exit "$status"
