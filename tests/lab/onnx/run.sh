#!/usr/bin/env bash
# What heed exports, in other programs. Checks that need a program that is missing are skipped aloud.
#   run.sh forms TEST_APPS HEED MODULES [CHECK]
#       libonnx finds models of every form valid, ONNX Runtime computes what heed computes, and the program in
#       docs/interoperability.md generates what heed generates.
#   run.sh trained TEST_APPS HEED MODULES
#       The same for configs/shakespeare.toml, reverse.toml and fashion.toml as they are, trained to their end.
#       HEED_TEXT is the text for shakespeare.toml.
#   run.sh page HEED MODULES
#       chromium runs the page in docs/interoperability.md.
#
# MODULES is the folder node_modules, into which ONNX Runtime is installed by npm.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
root=$here/../../..
work=$(mktemp -d)
server= browser=
trap 'kill $server $browser 2>/dev/null || true; wait; rm -rf "$work"' EXIT

skip() { echo "skipped: $*"; exit 0; }
# Runs a command and shows its output only if it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }

# Installs ONNX Runtime for WebAssembly, which runs in node and in browsers, unless this version is there.
install() {
  local own=$NODE_PATH.$$
  cmp -s "$here/package-lock.json" "$NODE_PATH/.heed-lock" && return
  type npm &>/dev/null || skip "no npm: apt-get install nodejs npm"
  mkdir -p "$own"
  cp "$here"/package{,-lock}.json "$own"
  if ! npm ci --ignore-scripts --no-audit --no-fund --prefix "$own" &>"$work/log"; then
    rm -rf "$own"
    skip "npm cannot fetch onnxruntime-web"
  fi
  cp "$here/package-lock.json" "$own/node_modules/.heed-lock"
  rm -rf "$NODE_PATH"
  mv -T "$own/node_modules" "$NODE_PATH" 2>/dev/null || true  # another test was faster
  rm -rf "$own"
}

# The code blocks of a language in docs/interoperability.md.
blocks() {
  awk -v open='^```'"$1"'$' '/^```/ { code = 0 } code { print } $0 ~ open { code = 1 }' "$root/docs/interoperability.md"
}

# A model as that of configs/shakespeare.toml, smaller and trained on a page of heed.
train_language_model() {
  cp "$root/docs/interoperability.md" page.md
  cat >text.toml <<'END'
[train]
steps = 200
samples = 0
[model]
kind = "language_model"
layers = 2
dim = 32
activation = "gelu"
bias = false
[model.positional]
kind = "learned"
max_length = 64
[optim]
lr = 1e-2
[data]
kind = "text"
path = "page.md"
context = 64
END
  quietly "$1" train text.toml --run "$2"
}

# Compares the greedy text of run $2 with that of the page's JavaScript, from prompt $3.
compare_text() {
  blocks js >generate.js
  cat >>generate.js <<END
const ort = require('onnxruntime-web');
const {symbols} = JSON.parse(require('fs').readFileSync('$2/vocabulary.json'));
ort.InferenceSession.create('$2.onnx')
  .then(session => generate(ort, session, symbols, '$3', {length: 300, window: 64}))
  .then(text => console.log(text));
END
  quietly "$1" export "$2" --output "$2.onnx"
  "$1" generate "$2" --prompt "$3" --length 300 --temperature 0 >expected
  node generate.js >found
  diff expected found || { echo "docs/interoperability.md: generate() differs from heed generate"; exit 1; }
}

forms() {
  mkdir "$work/cases"
  HEED_ONNX_CASES=$work/cases quietly "$1" -tc='onnx: every form*'
  if [[ ${4-} ]]; then
    "$4" "$work"/cases/*.onnx
  else
    echo "skipped: no libonnx when the build was configured: apt-get install libonnx-dev libprotobuf-dev"
  fi
  install
  node "$here/compare.cjs" "$work/cases" "$(find "$work/cases" -name '*.onnx' | wc -l)"
  cd "$work"
  train_language_model "$2" page
  compare_text "$2" page 'The '
}

trained() {
  local config=$root/configs
  install
  [[ -d /usr/share/datasets/fashion-mnist ]] || skip "no images: apt-get install dataset-fashion-mnist"
  cd "$work"
  [[ ${HEED_TEXT-} ]] || cat /usr/share/common-licenses/*GPL* >text
  mkdir runs cases
  quietly "$2" train "$config/shakespeare.toml" --run runs/shakespeare --set "data.path=${HEED_TEXT:-$work/text}"
  quietly "$2" train "$config/reverse.toml" --run runs/reverse
  quietly "$2" train "$config/fashion.toml" --run runs/fashion
  for name in shakespeare reverse fashion; do
    quietly "$2" export runs/$name --output cases/$name.onnx
  done
  HEED_ONNX_RUNS=$work/runs HEED_ONNX_CASES=$work/cases quietly "$1" --no-skip -tc='onnx: trained runs*'
  node "$here/compare.cjs" cases 3
  compare_text "$2" runs/shakespeare 'The '
  for ((step = 1; step < 50; ++step)); do seq -s ' ' "$step" "$step" 49; done >lines
  "$2" generate runs/reverse --input lines >expected
  node "$here/answer.cjs" cases/reverse.onnx runs/reverse lines >found
  diff expected found || { echo "reverse: ONNX Runtime generates other outputs than heed"; exit 1; }
  echo "the text of shakespeare, $(wc -l <lines) outputs of reverse: the same as those of heed generate"
}

page() {
  type chromium &>/dev/null || skip "no chromium: apt-get install chromium"
  install
  cd "$work"
  train_language_model "$1" run
  quietly "$1" export run
  "$1" generate run --prompt ROMEO: --length 300 --temperature 0 >expected
  mkdir site
  mv model.onnx run/vocabulary.json site
  ln -s "$NODE_PATH/onnxruntime-web/dist" site/ort
  blocks html | sed 's|https://cdn.jsdelivr.net/npm/onnxruntime-web/dist|ort|' >site/index.html
  # The page tells the server what it shows, once that has its full length.
  cat >>site/index.html <<'END'
<script>
  setInterval(() => {
    const text = document.getElementById('text').textContent;
    if (text.length === 306) fetch('found?' + encodeURIComponent(text));
  }, 100);
</script>
END
  blocks js >site/generate.js
  touch requests
  python3 -u -m http.server --bind 127.0.0.1 --directory site 0 &>>requests &
  server=$!
  for ((i = 0; i < 100; ++i)); do grep -q port requests && break; sleep 0.1; done
  address=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\) .*/\1/p' requests)
  chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --remote-debugging-port=0 \
    "$address" &>log &
  browser=$!
  for ((i = 0; i < 1200; ++i)); do grep -q 'GET /found' requests && break; sleep 0.1; done
  node -e 'console.log(decodeURIComponent(process.argv[1]))' \
    "$(sed -n 's/.*"GET \/found?\([^ ]*\) .*/\1/p' requests | head -n 1)" >found
  diff expected found || { cat requests log; echo "docs/interoperability.md: the page shows other text than heed generate"; exit 1; }
  echo "chromium shows the text of heed generate"
}

mode=$1
shift
[[ $mode == page ]] && modules=$2 || modules=$3
export NODE_PATH=$modules
"$mode" "$@"
