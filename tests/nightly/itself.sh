#!/usr/bin/env bash
# Tests run.sh on a checkout with four small tests of ctest.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
type git &>/dev/null || { echo "skipped: git is not installed"; exit; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "nightly: $*"; exit 1; }
mkdir -p "$work/tests/nightly" "$work/build/release"
cd "$work"
cp "$here/run.sh" tests/nightly
echo /build >.gitignore
printf 'Text.\n\n<!-- nightly -->\nold\n<!-- /nightly -->\n\nMore.\n' >page.md
commit() { git add -A && git -c user.name=x -c user.email=x@x commit -qm "$1"; }
git init -q
commit first
cat >build/release/CTestTestfile.cmake <<END
add_test(good sh -c "echo 3 < 4; echo x >>$work/build/ran")
add_test(bad sh -c "echo it is | wrong; exit 1")
add_test(away echo "skipped: there is no moon")
add_test(long true)
add_test(quick false)
set_tests_properties(good bad away long PROPERTIES LABELS nightly)
set_tests_properties(away PROPERTIES SKIP_REGULAR_EXPRESSION skipped:)
END
sed -i 's/3 < 4/"3 < 4"/; s/"3/\\"3/; s/4"/4\\"/; s/it is | wrong/\\"it is | wrong\\"/' build/release/CTestTestfile.cmake
printf '%s\t%s\n' $'good\t5' 'a number is less' $'bad\t3' 'nothing' $'away\t3' 'the moon' $'long\t9' 'time passes' >build/release/nightly.txt
run() { code=0; tests/nightly/run.sh build/release "$@" >build/out 2>&1 || code=$?; }
has() { grep -qxF -- "$1" build/out || { cat build/out; fail "$1: not printed"; }; }
kept=build/nightly/$(git rev-parse --short=8 HEAD)

# The longest test alone is half of the minutes, and the other half are the others.
run 1/2
[[ $code == 0 && $(cut -f 1,2 "$kept") == $'long\theld' ]] || { cat build/out; fail "part 1 of 2: $(cat "$kept")"; }
has '| good | a number is less | – | not run |'
run 2/2
[[ $code == 1 ]] || fail "a test fails, and the exit code is $code"
has '| good | a number is less | 0.0 | held: 3 < 4 |'
has '| long | time passes | 0.0 | held |'
has '| bad | nothing | 0.0 | failed: it is   wrong |'
has '| away | the moon | 0.0 | skipped: there is no moon |'
grep -qE '^2 held, 1 failed, 1 skipped, 0 not run, in 0.0 hours from [-0-9]{10} to [-0-9]{10} on .*cores\.$' build/out || fail "no sum"

# What has a result is not run again unless asked, one test can be chosen, and the last result counts.
run
[[ $(wc -l <build/ran) == 1 && $code == 0 ]] || fail "a kept test ran again"
run --again -R good
[[ $(wc -l <build/ran) == 2 && $code == 0 && $(wc -l <"$kept") == 5 ]] || fail "--again -R good: $(cat "$kept")"

# A changed tree does not count.
echo >new
run 1/2
[[ $(head -n 1 build/out) == 'The sources are changed'* && $(wc -l <"$kept") == 5 && -e build/nightly/changed ]] || fail "a changed tree"
rm new

# The page: the table between the markers, and a check that it has every test.
run --table page.md
[[ $code == 0 ]] || { cat build/out; fail "--table"; }
[[ $(head -n 5 page.md) == $'Text.\n\n<!-- nightly -->\n\nCommit '* && $(tail -n 3 page.md) == $'<!-- /nightly -->\n\nMore.' ]] || fail "$(cat page.md)"
run --check page.md
[[ $code == 0 ]] || { cat build/out; fail "--check of a whole table"; }
printf 'young\t1\tnew\n' >>build/release/nightly.txt
run --check page.md
[[ $code == 1 ]] && grep -q '^> young' build/out || fail "--check of a table that lacks a test"
