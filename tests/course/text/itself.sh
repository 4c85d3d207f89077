#!/usr/bin/env bash
# Checks run.sh with a page that is true and with changes after which it is not: each must be reported, with its line.
#   itself.sh PROGRAM HEED     the program of the C++ blocks, course_pages, and heed
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy from which the links lead to the same files.
pages=$work/a/b/c
mkdir -p "$pages/figures"
cp -r "$here/../../../course/drawings" "$pages"
ln -s "$here/../../../core" "$here/../../../configs" "$work"
failed=0

# Runs the copy; the output goes to $work/output.
run() { "$here/run.sh" "$mode" "$pages/example.md" "$program" "$heed" >"$work/output" 2>&1; }
fresh() {
  cp "$here/example.md" "$pages/example.md"
  cp "$work"/*.svg "$pages/figures"
  cp "$here/../../../course/drawings/attention_matrices.svg" "$pages/drawings"
}

# must_fail WORDS FILE EXPRESSION: after the change of FILE by sed, the report has the words.
must_fail() {
  fresh
  sed -i -E "$3" "$pages/$2"
  ! cmp -s "$pages/$2" "$here/$2" || { echo "itself.sh: nothing is changed by $3"; failed=1; }
  if run; then
    echo "run.sh does not notice: $3"
    failed=1
  elif ! grep -qF -- "$1" "$work/output"; then
    printf '%s\n' "run.sh does not say '$1' after $3, but:" "$(<"$work/output")"
    failed=1
  fi
}
must_pass() {
  run || { printf '%s\n' "run.sh rejects $1:" "$(<"$work/output")"; failed=1; }
}

program=$1 heed=$2 mode=figures
cp "$here/example.md" "$pages"
must_pass "the drawing of figures"
mv "$pages"/figures/*.svg "$work"
mode=nightly
fresh
must_pass "the page in the nightly test"
must_fail "example.md:34: shown:   another" example.md '34s/.*/another/'
mode=quick
fresh
must_pass "a true page"
fresh
sed -i -E '13s/0.123/0.12345/; 34s/.*/not now/' "$pages/example.md"
must_pass "more digits, and another output of a block that is not run"
fresh
sed -i -E '9s/0.12345/0.1239/; 13s/0.123/0.123…/' "$pages/example.md"
must_pass "a number that is cut off"
fresh
sed -i -E '9s/2.6 \[2, 3\]/2.6/' "$pages/example.md"
must_pass "a mean without an interval inside the shown one"
fresh
sed -i -E '14s/2.5 \[2, 3\]/2/' "$pages/example.md"
must_pass "a shown mean without an interval inside the printed one"
fresh
sed -i 's/,270 /,270.3 /' "$pages/figures/lines.svg"
must_pass "a figure that differs by a part of a pixel"

must_fail "example.md:14: shown:   steps 201, …" example.md '14s/200/201/'
must_fail "example.md:13: printed: loss  0.12345" example.md '13s/0.123/0.124/'
must_fail "example.md:13: printed: loss" example.md '13s/0.123/0.12344/'
must_fail "example.md:15: shown:   First" example.md '15s/first/First/'
must_fail "example.md:19: printed: (the end)" example.md '17s/last/last\n…\nmore/; 20,21d'
must_fail "example.md:14: shown:   steps 200, …, mean 3.5" example.md '14s/2.5 \[2, 3\]/3.5 [3, 4]/'
must_fail "example.md:14: shown:   steps 200, …, mean 3.5" example.md '14s/2.5 \[2, 3\]/3.5/'
must_fail "example.md:46: printed: 0.333333 and -2" example.md '46s/-2/2/'
must_fail "printed: first" example.md '/^first$/,/^…$/d; 19s/$/\n\n/'
must_fail "example.md: its C++ blocks have changed since course_pages was built" example.md 's/1.0 \/ 3/1.0 \/ 4/'
must_fail "example.md: its C++ blocks have changed since course_pages was built" example.md '20s/$/\n/'
must_fail "example.md:9: this block fails with exit code 3" example.md '9s/^/exit 3;/'
must_fail "example.md:82: unknown tag" example.md 's/^```cpp excerpt/```cpp exceprt/; 44s/text/txt/'
must_fail "a block of output needs the block" example.md '43s/^/words/'
must_fail "a block does not end" example.md '$d'
must_fail "no block draws figures/other.svg" example.md 's/figures\/lines.svg\)$/figures\/other.svg)/'
must_fail "draws another figures/lines.svg" figures/lines.svg 's/,270 /,290 /'
must_fail "draws another figures/lines.svg" figures/lines.svg 's/A parabola|>line</>curve</'
must_fail "no output of the page has the number 7" drawings/attention_matrices.svg 's/Q \(2 × 2\)/Q (7 × 2)/'
must_fail "has no <desc>" drawings/attention_matrices.svg 's/<desc/<title/'
must_fail "has no dark colours" drawings/attention_matrices.svg 's/prefers-color-scheme/prefers/'
must_fail "there is no drawings/other.svg" example.md 's/attention_matrices/other/'
! command -v python3 >/dev/null ||
  must_fail "draw.py draws another" drawings/attention_matrices.svg 's/Who bites/Who eats/'
must_fail "../../../core/ops/arithmetic.cpp has no such lines" example.md 's/\(g.size\(\), g.dy\(\), b,/(g.size(), g.dy(), a,/'
must_fail "shape.h does not define Shape::ranks" example.md 's/Shape::rank`/Shape::ranks`/'
must_fail "norm.cpp does not define wants" example.md 's/`layer_norm`/`wants`/'
must_fail "leads nowhere" example.md 's/core\/activation.h/core\/activations.h/'
must_fail "has no heading with the anchor #shell-block" example.md 's/#shell-blocks/#shell-block/'
must_fail "has no heading with the anchor #c" example.md 's/#c-blocks/#c++-blocks/'
must_fail "the head does not say **It runs**" example.md 's/\*\*It runs\*\*/It runs/'
export HEED_FAIL=1
must_fail "example.md:52: this block fails: asked to fail" example.md '$s/$/ /'
exit "$failed"
