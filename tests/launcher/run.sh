#!/usr/bin/env bash
# Tests the launcher with stubs: every tool it calls is replaced by a few lines of shell that record their arguments,
# so that nothing is installed or built.
#   run.sh LAUNCHER [busybox]      with busybox most of its tools are those of BusyBox instead of GNU's
# HEED_TEST_BASH=FILE runs the launcher by another bash, such as macOS's /bin/bash.
set -euo pipefail
unset HEED_BUILD HEED_PYTHON HEED_WERROR OMPI_COMM_WORLD_RANK PMI_RANK
launcher=$1
if [[ ${2-} == busybox ]] && ! type busybox &>/dev/null; then
  echo "skipped: there is no busybox"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
tree="$work/ein Bäumchen"
tools=$work/tools
calls=$work/calls
mkdir -p "$tree" "$tools" "$work/elsewhere"
cp "$launcher" "$tree/heed"
touch "$tree/CMakePresets.json" "$tree/CMakeLists.txt"
mkdir -p "$tree/tests" "$tree/course/playground"
cp "$(dirname "$launcher")/tests/count_cases.awk" "$tree/tests"
cp "$(dirname "$launcher")/course/playground/playground.sh" "$tree/course/playground"
mkdir "$tree"/{core,nn,optim,data,apps,lab,cmake} "$tree/apps/commands"
echo 'const Command commands::train = {' >"$tree/apps/commands/train.cpp"
cp "$(dirname "$launcher")/cmake/packages.txt" "$tree/cmake"
ln -s "${HEED_TEST_BASH:-$(type -P bash)}" "$tools/bash"
for tool in env dirname readlink mkdir rmdir rm mv cp cat find awk mktemp sleep touch chmod true ln sed cksum uname sort getconf; do
  of=$tool
  [[ ${2-} != busybox || $tool == @(cksum|getconf) ]] || of=busybox
  ln -s "$(type -P "$of")" "$tools/$tool"
done
grep=$(type -P grep)
[[ ${2-} != busybox ]] || { ln -s "$(type -P busybox)" "$work/grep"; grep=$work/grep; }
processor=$work/processor
export tree calls grep processor

# Makes a stub named $1 with standard input as its body.
stub() {
  { echo '#!/usr/bin/env bash'; cat; } >"$tools/$1"
  chmod +x "$tools/$1"
}

# Restores a machine with every package installed and nothing built.
reset() {
  rm -rf "$tree/build" "$calls"
  touch "$calls"
  rm -f "$tools"/{apt-get,dnf,zypper,pacman,apk,brew,c++}
  echo 'model name : the first' >"$processor"
  stub grep <<<'if [[ ${*: -1} == /proc/cpuinfo ]]; then cat "$processor"; else "$grep" "$@"; fi'
  stub dpkg-query <<<'for package in "${@:3}"; do printf "installed:%s " "$package"; done'
  stub apt-get <<<'echo "apt-get $*" >>"$calls"'
  stub sudo <<<'"$@"'
  stub g++ </dev/null
  stub cmake <<'END'
echo "cmake $*" >>"$calls"
echo "-- what cmake says"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$tree" >>"${*: -1}/CMakeCache.txt"
touch "${*: -1}/build.ninja"
END
  stub ninja <<'END'
echo "ninja ${*: -1}" >>"$calls"
echo "[1/1] Building"
mkdir -p "$2/bin"
case ${*: -1} in (heed-trainer) built=heed-trainer ;; (heed_graders) built="heed heed-tutor" ;; (*) built=heed ;; esac
cat >"$2/bin/program" <<'PROGRAM'
#!/usr/bin/env bash
printf '%s\n' "$PWD" "$#" "$@"
cat
[[ ! -L $tree/build/.building ]] || echo "the lock is still held"
exit 7
PROGRAM
chmod +x "$2/bin/program"
for name in $built; do cp "$2/bin/program" "$2/bin/$name"; done
END
}

case_name=
failed=0
a_case() { case_name=$1; reset; }
# Runs $called from another folder; sets output, errors and code.
called=("$tree/heed")
call() {
  code=0
  output=$(cd "$work/elsewhere" && PATH=$tools "${called[@]}" "$@" 2>"$work/errors") || code=$?
  errors=$(<"$work/errors")
}
expect() {  # WHAT FOUND PATTERN
  [[ $2 == $3 ]] && return
  printf '%s: %s: found\n%s\nexpected\n%s\n' "$case_name" "$1" "$2" "$3"
  failed=1
}

a_case "starts the program"
call report 'two words' '' <<<'standard input'
expect output "$output" "$work/elsewhere"$'\n3\nreport\ntwo words\n\nstandard input'
expect "exit code" "$code" 7
expect calls "$(<"$calls")" $'cmake --preset release*\nninja heed_program'
expect errors "$errors" "heed: the first build *is kept in $tree/build/release-"$'*\nheed: building 1 of 1'

a_case "builds all commands for a training with measures, which its config names, or may name by its base"
mkdir -p "$work/elsewhere/configs/more"
printf 'seed = 1\n[train]\nsteps = 2\n' >"$work/elsewhere/configs/plain.toml"
printf '[train]\n  measures = ["heads"]\n' >"$work/elsewhere/configs/measured.toml"
printf '# a comment\nbase = "../measured.toml"\n' >"$work/elsewhere/configs/more/based.toml"
for arguments in configs/measured.toml configs/more/based.toml \
  'configs/plain.toml --set train.measures=["lens"]'; do
  reset
  call train $arguments </dev/null
  expect "calls of train $arguments" "$(<"$calls")" $'cmake --preset release*\nninja heed_program'
done
for arguments in configs/plain.toml configs; do
  reset
  call train $arguments </dev/null
  expect "calls of train $arguments" "$(<"$calls")" $'cmake --preset release*\nninja heed-trainer'
done

a_case "builds a smaller program for the first training, and all commands when another is called"
call train here </dev/null
expect output "$output" "$work/elsewhere"$'\n2\ntrain\nhere'
expect calls "$(<"$calls")" $'cmake --preset release*\nninja heed-trainer'
: >"$calls"
call train </dev/null
expect "calls of train" "$(<"$calls")" 'ninja heed-trainer'
: >"$calls"
call report </dev/null
expect "calls of report" "$(<"$calls")" 'ninja heed_program'
: >"$calls"
call train </dev/null
expect "calls of train after report" "$(<"$calls")" 'ninja heed_program'

a_case "prints and configures nothing when the build is up to date"
call report </dev/null
: >"$calls"
stub ninja <<<'echo "[0/1] Re-checking globbed directories..."; echo "ninja: no work to do."'
call report </dev/null
expect calls "$(<"$calls")" ''
expect errors "$errors" ''
expect "exit code" "$code" 7

a_case "works through a symbolic link"
ln -s "$tree/heed" "$work/link"
called=("$work/link")
call one </dev/null
called=("$tree/heed")
expect output "$output" "$work/elsewhere"$'\n1\none'

a_case "the program learns by which name it was called"
stub ninja <<<'mkdir -p "$2/bin"; ln -sf "$(type -P bash)" "$2/bin/heed"'
call -c 'echo "$0"' </dev/null
expect output "$output" "$tree/heed"

a_case "keeps a build for each kind of processor"
call report </dev/null
first=$(readlink "$tree/build/release")
: >"$calls"
echo 'model name : the second' >"$processor"
call report </dev/null
expect "calls for the second processor" "$(<"$calls")" $'cmake --preset release*\nninja heed_program'
second=$(readlink "$tree/build/release")
[[ $first == release-[1-9]* && $second == release-[1-9]* && $first != "$second" ]] || expect "the links" "$first $second" "two names"
: >"$calls"
echo 'model name : the first' >"$processor"
call report </dev/null
expect "calls for the first processor again" "$(<"$calls")" 'ninja heed_program'
expect "its link" "$(readlink "$tree/build/release")" "$first"
[[ -x $tree/build/$second/bin/heed ]] || expect "the other build" gone there

a_case "uses a real folder build/release that cmake --preset release made"
call report </dev/null
rm "$tree/build/release"
mv "$tree"/build/release-* "$tree/build/release"
: >"$calls"
call train </dev/null
expect "exit code" "$code" 7
expect "calls" "$(<"$calls")" 'ninja heed_program'
expect "folders" "$(cd "$tree/build"; echo *)" release

a_case "leaves a folder release of somebody else alone"
mkdir -p "$tree/build/release"
echo mine >"$tree/build/release/thesis.txt"
call report </dev/null
expect "exit code" "$code" 7
expect "the file" "$(<"$tree/build/release/thesis.txt")" mine

a_case "makes warnings errors only where that is asked for"
call report </dev/null
expect calls "$(<"$calls")" 'cmake * -DHEED_WERROR=OFF *'
reset
HEED_WERROR=ON call report </dev/null
expect "calls with HEED_WERROR" "$(<"$calls")" 'cmake * -DHEED_WERROR=ON *'
reset
mkdir -p "$tree/build/release"
printf '%s\n' "CMAKE_HOME_DIRECTORY:INTERNAL=$tree" 'HEED_WERROR:BOOL=ON' >"$tree/build/release/CMakeCache.txt"
call report </dev/null
expect "calls after cmake --preset release" "$(<"$calls")" 'cmake * -DHEED_WERROR=ON *'

a_case "rebuilds if the folder moved"
call report </dev/null
sed -i 's/$/elsewhere/' "$tree/build/release/CMakeCache.txt"
touch "$tree/build/release/old"
call report </dev/null
expect errors "$errors" '*made for other sources*'
expect "exit code" "$code" 7
[[ ! -e $tree/build/release/old ]] || expect "the old build" there gone

a_case "leaves the files of plain CMake in build/ alone"
mkdir -p "$tree/build/bin"
echo plain | tee "$tree/build/CMakeCache.txt" "$tree/build/build.ninja" "$tree/build/.lock" >"$tree/build/bin/heed"
call report </dev/null
expect "exit code" "$code" 7
expect calls "$(<"$calls")" $'cmake --preset release*\nninja heed_program'
for file in CMakeCache.txt build.ninja .lock bin/heed; do expect "$file" "$(<"$tree/build/$file")" plain; done

a_case "builds in the folder HEED_BUILD"
for folder in "$work/build elsewhere" "a folder of the caller"; do
  : >"$calls"
  HEED_BUILD=$folder call report </dev/null
  expect "exit code" "$code" 7
  case $folder in (/*) ;; (*) folder=$work/elsewhere/$folder ;; esac
  expect calls "$(<"$calls")" "cmake --preset release -DHEED_WERROR=OFF -S $tree -B $folder/release-"$'*\nninja heed_program'
  [[ -x $folder/release/bin/heed ]] || expect "the program" "in $folder" missing
done
[[ ! -e $tree/build ]] || expect build there missing

a_case "shows all output of a failed configuration"
stub cmake <<<'echo "-- one"; echo "CMake Error: two" >&2; exit 1'
call
expect "exit code" "$code" 1
expect errors "$errors" '*-- one*CMake Error: two*could not be configured*'

a_case "shows all output of a failed build"
stub ninja <<'END'
echo "[1/2] Building"
echo "FAILED: x.o"
echo "x.cpp:1:1: error: it is wrong"
echo "ninja: build stopped: subcommand failed."
exit 1
END
call
expect "exit code" "$code" 1
expect output "$output" ''
expect errors "$errors" '*FAILED: x.o*x.cpp:1:1: error: it is wrong*the build failed*'

a_case "answers calls for help at once, without a program by docs/help.txt"
mkdir "$tree/docs"
printf '%s\n' '## heed' 'all commands' '' 'the end' '## train' 'how to train' >"$tree/docs/help.txt"
for arguments in --help -h help; do
  call $arguments
  expect "output of $arguments" "$output" $'all commands\n\nthe end\n\n*playground*--yes*HEED_BUILD*'
  expect "exit code of $arguments" "$code" 0
done
call
expect "output without arguments" "$output" ''
expect "errors without arguments" "$errors" $'all commands\n\nthe end\n\n*playground*'
expect "exit code without arguments" "$code" 2
for arguments in 'train --help' 'train -h' 'help train' 'train config --help'; do
  call $arguments
  expect "output of $arguments" "$output" 'how to train'
  expect "exit code of $arguments" "$code" 0
done
expect calls "$(<"$calls")" ''
call trian --help
expect "calls for a command that the text lacks" "$(<"$calls")" $'cmake --preset release*\nninja heed_program'

a_case "answers calls for help by the program that is built, even an old one"
call report </dev/null
: >"$calls"
cat >"$tree/build/release/bin/heed" <<'END'
#!/usr/bin/env bash
[[ $* == --version ]] && echo "version 1"
[[ $* == --help ]] && echo "as built"
END
touch -d "next minute" "$tree/core/new.cpp"
call --help
expect output "$output" $'as built\n*--yes*'
call
expect errors "$errors" $'as built\n*--yes*'
expect "exit code" "$code" 2
call --version
expect version "$output" 'version 1'
call train --help  # which this program does not know
expect "output of a newer command" "$output" 'how to train'
expect calls "$(<"$calls")" ''
rm -r "$tree/docs" "$tree/core/new.cpp"

a_case "installs missing packages and updates the package lists if necessary"
stub dpkg-query <<'END'
for package in "${@:3}"; do
  case $package in g++ | doctest-dev) ;; *) printf "installed:%s " "$package" ;; esac
done
exit 1
END
stub apt-get <<'END'
echo "apt-get $*" >>"$calls"
case $* in *update) touch "$tree/updated" ;; *) [[ -e $tree/updated ]] ;; esac
END
call report </dev/null
expect "exit code" "$code" 7
expect errors "$errors" '*apt-get install g++ doctest-dev*'
expect calls "$(<"$calls")" $'*install*g++ doctest-dev\n*update\n*install*g++ doctest-dev\ncmake*'

a_case "shows the texts of the course without a build, and builds for a check only what grades it"
mkdir -p "$tree/course/tutor"
echo 'echo "course ${*:3}"' >"$tree/course/tutor/course.sh"
for arguments in '' 'start softmax' 'next --fast'; do
  call course $arguments
  expect "output of '$arguments'" "$output" "course $arguments"
  expect "calls of '$arguments'" "$(<"$calls")" ''
done
call course check --watch </dev/null
expect "output of check" "$output" "course check --watch"
expect "errors of the first check" "$errors" $'course check --watch --task\n*only the first check*'
expect "calls of check" "$(<"$calls")" $'cmake --preset release*\nninja heed_graders'
call course check </dev/null
expect "errors of the second check" "$errors" '*building*'
[[ $errors != *--task* ]] || expect "errors of the second check" "$errors" "no task"
: >"$calls"
call course check --answers class </dev/null
expect "exit code of check --answers" "$code" 7
expect "calls of check --answers" "$(<"$calls")" 'ninja heed_graders'  # the stub shows the last target
: >"$calls"
call course museum x </dev/null
expect "calls of museum" "$(<"$calls")" 'ninja heed_program'
echo 'exit 2' >"$tree/course/tutor/course.sh"
rm -r "$tree/build"
: >"$calls"
call course check x
expect "exit code of an unknown exercise" "$code" 2
expect "calls of an unknown exercise" "$(<"$calls")" ''

a_case "installs what view needs, and configures again, only for view"
stub dpkg-query <<<'for package in "${@:3}"; do [[ $package == *httplib* ]] || printf "installed:%s " "$package"; done'
call report </dev/null
echo 'HEED_HTTPLIB:FILEPATH=HEED_HTTPLIB-NOTFOUND' >>"$tree/build/release/CMakeCache.txt"
: >"$calls"
call train </dev/null
expect "calls of train" "$(<"$calls")" 'ninja heed_program'
: >"$calls"
call view </dev/null
expect "calls of view" "$(<"$calls")" $'apt-get *install*libcpp-httplib-dev\ncmake --preset release*\nninja heed_program'

a_case "installs what a figure needs, only for a PDF or a PNG"
stub dpkg-query <<<'for package in "${@:3}"; do [[ $package == librsvg2-bin ]] || printf "installed:%s " "$package"; done'
: >"$calls"
call report runs/a --figure a.svg </dev/null
expect "calls for SVG" "$(<"$calls")" $'cmake --preset release*\nninja heed_program'
: >"$calls"
call report runs/a --figure=a.pdf </dev/null
expect "calls for PDF" "$(<"$calls")" $'apt-get *install*librsvg2-bin\nninja heed_program'

# on_terminal ANSWER ARGUMENT…: calls the launcher with a terminal as its standard input, output and errors.
on_terminal() {
  local command
  printf -v command '%q ' env PATH="$tools" "$tree/heed" "${@:2}"
  code=0
  output=$(printf '%s\n' "$1" | script -qec "$command" /dev/null) || code=$?
}
without_doctest='for package in "${@:3}"; do [[ $package == doctest-dev ]] || printf "installed:%s " "$package"; done'

a_case "asks before it installs on a terminal"
stub dpkg-query <<<"$without_doctest"
for answer in n no x; do
  on_terminal "$answer" report
  expect "output of $answer" "$output" '*this installs the missing packages: apt-get install doctest-dev*run it now?*nothing was installed*apt-get install doctest-dev*'
  expect "exit code of $answer" "$code" 1
  expect "calls of $answer" "$(<"$calls")" ''
done
for answer in '' y Y yes; do
  : >"$calls"
  on_terminal "$answer" report
  expect "exit code of '$answer'" "$code" 7
  expect "calls of '$answer'" "$(<"$calls")" $'apt-get *install*doctest-dev\n*ninja heed_program'
done
: >"$calls"
on_terminal '' --yes report
expect "output with --yes" "$output" '*this installs the missing packages: apt-get install doctest-dev*'
[[ $output != *"run it now"* ]] || expect "output with --yes" "$output" "no question"
expect "arguments with --yes" "$output" $'*\r\n1\r\nreport*'
expect "calls with --yes" "$(<"$calls")" $'apt-get *install*doctest-dev\n*ninja heed_program'
: >"$calls"
call report </dev/null
expect "calls without a terminal" "$(<"$calls")" $'apt-get *install*doctest-dev\n*ninja heed_program'

a_case "prints the line to type on other systems, by the names of cmake/packages.txt"
while read -r manager line; do
  reset
  rm "$tools/"{dpkg-query,apt-get}
  [[ $manager == none ]] || stub "$manager" <<<'echo "$0 $*" >>"$calls"'
  call report </dev/null
  expect "exit code with $manager" "$code" 1
  expect "errors with $manager" "$errors" "heed: packages are missing: *$line"
  expect "calls with $manager" "$(<"$calls")" ''
  stub c++ </dev/null
  call report </dev/null
  expect "exit code with $manager and a compiler" "$code" 7
  rm -r "$tree/build"
  stub cmake <<<'echo "cmake has its reasons"; exit 1'
  call report </dev/null
  expect "exit code with $manager where cmake fails" "$code" 1
  expect "errors with $manager where cmake fails" "$errors" "*cmake has its reasons*could not be configured, see above; if a package is missing: *$line"
done <<'END'
dnf dnf install gcc-c++ cmake ninja-build openblas-devel *json-devel *doctest-devel
zypper zypper install gcc-c++ cmake ninja libopenblas_openmp-devel *nlohmann_json-devel *doctest-devel
pacman pacman -S --needed gcc cmake ninja openblas *nlohmann-json *doctest
apk apk add g++ cmake ninja-build openblas-dev *nlohmann-json *doctest-dev
brew brew install cmake ninja libomp *nlohmann-json *doctest
none install by hand, by their names in Debian: g++ cmake *doctest-dev
END

case_name="docs/install.md shows the table of packages"
while IFS= read -r line; do
  grep -qFx -- "$line" "$(dirname "$launcher")/docs/install.md" || expect "a row of docs/install.md" missing "$line"
done <"$tree/cmake/packages.txt"

a_case "names the packages that could not be installed"
stub dpkg-query <<<'exit 1'
stub apt-get <<<'echo "apt-get has its reasons"; exit 100'
call </dev/null
expect "exit code" "$code" 1
expect errors "$errors" '*apt-get has its reasons*apt-get install g++ cmake *doctest-dev'

a_case "concurrent calls wait for each other"
stub cmake <<<'touch "${*: -1}/build.ninja"'
stub ninja <<'END'
echo begin >>"$calls"; sleep 0.2; echo end >>"$calls"
mkdir -p "$2/bin"; cd "$2/bin"
echo '#!/usr/bin/env bash' >heed; chmod +x heed
END
PATH=$tools "$tree/heed" 2>"$work/first" &
PATH=$tools "$tree/heed" 2>"$work/second" &
wait
expect calls "$(<"$calls")" $'begin\nend\nbegin\nend'
expect errors "$(cat "$work/first" "$work/second")" '*waiting for another build*'

a_case "does not wait for a build that was killed, and leaves no lock"
mkdir "$tree/build"
sh -c : &
wait $!
ln -s "$(uname -n):$!" "$tree/build/.building"
call report </dev/null
expect "exit code" "$code" 7
stub ninja <<<'exit 1'
call report </dev/null
expect "exit code of a failed build" "$code" 1
[[ ! -L $tree/build/.building ]] || expect "the lock" there gone

a_case "a killed process left the lock of removing a lock"
mkdir "$tree/build"
ln -s "$(uname -n):$!" "$tree/build/.building"
ln -s "$(uname -n):$!" "$tree/build/.building.removed"
call report </dev/null
expect "exit code" "$code" 7
expect "left files" "$(cd "$tree/build"; echo .b*)" '.b*'

a_case "waits for a build that goes on when its launcher alone was killed"
stub cmake <<<'touch "${*: -1}/build.ninja"'
stub ninja <<'END'
echo begin >>"$calls"
until [[ -e $tree/go ]]; do sleep 0.1; done
echo end >>"$calls"
mkdir -p "$2/bin"; cd "$2/bin"
echo '#!/usr/bin/env bash' >heed; chmod +x heed
END
PATH=$tools "$tree/heed" 2>/dev/null &
first=$!
until [[ -s $calls ]]; do sleep 0.1; done
kill -KILL $first
wait $first 2>/dev/null || true
PATH=$tools "$tree/heed" 2>"$work/second" &
second=$!
until grep -qs "waiting for another build" "$work/second" || [[ $(grep -c begin "$calls") == 2 ]]; do sleep 0.1; done
touch "$tree/go"
wait $second
rm "$tree/go"
expect calls "$(<"$calls")" $'begin\nend\nbegin\nend'

a_case "counts doctest cases, and other tests as one each"
stub ctest <<'END'
echo "ctest $*" >>"$calls"
while [[ $1 != --output-junit ]]; do shift; done
cat >"$2" <<XML
<testsuite name="x">
  <testcase name="a" classname="a" time="1" status="run">
    <system-out>[doctest] doctest version is &quot;2.4.9&quot;
[doctest] test cases:  5 |  4 passed | 0 failed | 1 skipped
[doctest] assertions: 50 | 50 passed | 0 failed |
</system-out>
  </testcase>
  <testcase name="b" classname="b" time="1" status="run">
    <system-out></system-out>
  </testcase>
$(cat "$tree/more" 2>/dev/null)
</testsuite>
XML
[[ ! -e $tree/more ]]
END
call test -R 'a b'
expect "exit code" "$code" 0
expect output "$output" '5 passed, 0 failed'
expect calls "$(<"$calls")" $'*\nninja all\nctest --preset release --test-dir */build/release-* -R a b'
: >"$calls"
call test --gate -R d
expect calls "$(<"$calls")" $'*\nctest --preset gate *-R d'
: >"$calls"
mkdir -p "$tree/tests/nightly"
printf '#!/usr/bin/env bash\necho "run.sh $*" >>"$calls"\n' >"$tree/tests/nightly/run.sh"
chmod +x "$tree/tests/nightly/run.sh"
call test --nightly 2/4 -R c
expect calls "$(<"$calls")" $'*ninja all\nrun.sh */build/release-* 2/4 -R c'
: >"$calls"
call test --nightly --table page.md
expect calls "$(<"$calls")" 'run.sh */build/release-* --table page.md'

case_name="shows the checks that failed, and counts a crash as one failure"
cat >"$tree/more" <<'END'
  <testcase name="c" classname="c" time="1" status="fail">
    <failure message=""/>
    <system-out>TEST CASE:  a &lt; b

c.cpp:3: ERROR: CHECK( a &lt; b ) is NOT correct!
  values: CHECK( 2 &lt; 1 )

TEST CASE:  a warning
[doctest] test cases: 3 | 1 passed | 2 failed | 0 skipped
</system-out>
  </testcase>
  <testcase name="d" classname="d" time="1" status="fail">
    <failure message=""/>
    <system-out>Segmentation fault</system-out>
  </testcase>
  <testcase name="e" classname="e" time="0" status="notrun">
    <skipped message="Unable to find executable"/>
  </testcase>
END
call test
expect "exit code" "$code" '[1-9]*'
expect output "$output" $'\nTEST CASE: a < b\nc.cpp:3: ERROR: CHECK( a < b ) is NOT correct!\n  values: CHECK( 2 < 1 )\n\n6 passed, 4 failed'

case_name="a run without tests fails"
stub ctest <<<'exit 0'
call test
expect "exit code" "$code" 1
expect output "$output" '0 passed, 0 failed'

a_case "makes the playground, for which alone it installs emscripten"
stub dpkg-query <<<'for package in "${@:3}"; do [[ $package == emscripten ]] || printf "installed:%s " "$package"; done'
stub emcmake <<<'echo "emcmake $*" >>"$calls"; : >"$5/index.html"'
call playground
expect "exit code" "$code" 0
expect output "$output" "$tree/build/playground/index.html"
expect calls "$(<"$calls")" "apt-get *install * emscripten"$'\n'"emcmake cmake -S $tree/course/playground *"$'\n'"ninja $tree/build/playground"
call playground now
expect "exit code" "$code" 2
: >"$calls"
call report </dev/null
expect calls "$(<"$calls")" $'cmake --preset release*\nninja heed_program'

a_case "builds the site"
mkdir -p "$tree/course/site"
printf '#!/bin/sh\necho "site.sh $*" >>"$calls"\n: >"$2/index.html"\n' >"$tree/course/site/site.sh"
chmod +x "$tree/course/site/site.sh"
for tool in node npm; do stub "$tool" </dev/null; done
stub dpkg-query <<<'exit 1'
call site
rm "$tools"/{node,npm}
expect "exit code" "$code" 0
expect calls "$(<"$calls")" "apt-get *install *doctest-dev doxygen"$'\n'*
expect "npm, which is there" "${calls##*npm*}" "$calls"
expect output "$output" "$tree/build/site/index.html"
expect calls "$(<"$calls")" "*site.sh $tree/build/site-tools $tree/build/site $tree/build/playground/index.html"
call site now
expect "exit code" "$code" 2

a_case "makes the slides"
mkdir -p "$tree/course/slides"
printf '#!/bin/sh\necho "slides.sh $*" >>"$calls"\n: >"$1/week-1.html"\n' >"$tree/course/slides/slides.sh"
chmod +x "$tree/course/slides/slides.sh"
call slides
expect "exit code" "$code" 0
expect output "$output" "$tree/build/slides/week-1.html"
expect calls "$(<"$calls")" "*slides.sh $tree/build/slides"
call slides now
expect "exit code" "$code" 2

a_case "builds the module of Python, for which alone it installs pybind11, and starts Python"
stub dpkg-query <<<'for package in "${@:3}"; do [[ $package == pybind11-dev ]] || printf "installed:%s " "$package"; done'
stub python3 <<<'echo "python3 $* in $PYTHONPATH" >>"$calls"; exit 3'
stub cmake <<<'echo "cmake $*" >>"$calls"; echo "_Python_EXECUTABLE:INTERNAL=python3" >"${*: -1}/CMakeCache.txt"'
call python script.py --option
expect "exit code" "$code" 3
expect calls "$(<"$calls")" "apt-get *install * pybind11-dev"$'\n'"cmake --preset release -DHEED_PYTHON=ON *"$'\n'"ninja heed_python"$'\n'"python3 script.py --option in $tree/build/python-*/python"
rm "$tools/python3"

if ((EUID == 0)); then  # only root can act as a second user
  as_nobody=("$(type -P setpriv)" --reuid=65534 --regid=65534 --clear-groups)
  a_case "installs with sudo, and without it names in one line what is missing"
  mkdir -m 777 "$tree/build"
  chmod a+w "$calls"
  called=("${as_nobody[@]}" "$tree/heed")
  stub dpkg-query <<<"$without_doctest"
  stub sudo <<<'echo sudo >>"$calls"; "$@"'
  call report </dev/null
  expect "exit code" "$code" 7
  expect errors "$errors" '*this installs*: sudo apt-get install doctest-dev*'
  expect calls "$(<"$calls")" $'sudo\napt-get *install*doctest-dev\ncmake*'
  rm "$tools/sudo"
  call report </dev/null
  expect "exit code without sudo" "$code" 1
  expect "errors without sudo" "$errors" 'heed: packages are missing, and only root can install them: apt-get install doctest-dev'
  called=("$tree/heed")

  a_case "builds in HEED_BUILD if the sources are read-only"
  mkdir -m 777 "$work/writable"
  chmod a+w "$calls"
  called=("${as_nobody[@]}" "$tree/heed")
  call report </dev/null
  expect "exit code" "$code" 1
  expect errors "$errors" "heed: $tree/build/release-* cannot be written*HEED_BUILD=DIR builds in another folder"
  HEED_BUILD=$work/writable call report </dev/null
  expect "exit code with HEED_BUILD" "$code" 7
  called=("$tree/heed")

  a_case "runs a read-only build while it is up to date"
  call report </dev/null
  called=("${as_nobody[@]}" "$tree/heed")
  : >"$calls"
  call report </dev/null
  expect "exit code" "$code" 7
  expect errors "$errors" ''
  expect calls "$(<"$calls")" ''
  touch -d "next minute" "$tree/core/new.cpp"
  call report </dev/null
  expect "exit code" "$code" 1
  expect errors "$errors" '*release-* cannot be written*'
fi
exit "$failed"
