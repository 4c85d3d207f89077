#!/usr/bin/env bash
# libonnx finds the ONNX files of models of every form valid, ONNX Runtime computes what heed computes, and the
# program in docs/interoperability.md generates what heed generates.
#   run.sh TEST_APPS HEED MODULES [CHECK]     MODULES: the folder node_modules with onnxruntime-node
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
export NODE_PATH=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/cases"
HEED_ONNX_CASES=$work/cases "$1" -tc='onnx: every form*' >"$work/log" || { cat "$work/log"; exit 1; }
if [[ ${4-} ]]; then
  "$4" "$work"/cases/*.onnx
else
  echo "skipped: no libonnx when the build was configured: apt-get install libonnx-dev libprotobuf-dev"
fi
if ! node -e 'require("onnxruntime-node")' 2>/dev/null; then
  echo "skipped: no onnxruntime-node: ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix ${3%/*} onnxruntime-node"
  exit 0
fi
node "$here/compare.cjs" "$work/cases"

# A model as that of configs/shakespeare.toml, smaller and trained on a page of heed.
cp "$here/../../docs/interoperability.md" "$work/page.md"
cat >"$work/text.toml" <<'END'
[train]
steps = 40
samples = 0
[model]
kind = "language_model"
layers = 2
dim = 32
activation = "gelu"
bias = false
[model.positional]
kind = "learned"
max_length = 16
[optim]
lr = 1e-2
[data]
kind = "text"
path = "page.md"
context = 16
END
cd "$work"
"$2" train text.toml --run r 2>log >/dev/null || { cat log; exit 1; }
"$2" export r >/dev/null
"$2" generate r --prompt 'The ' --length 60 --temperature 0 >expected
awk '/^```/ { code = 0 } code { print } /^```js/ { code = 1 }' page.md >generate.js
cat >>generate.js <<'END'
const ort = require('onnxruntime-node');
const {symbols} = JSON.parse(require('fs').readFileSync('r/vocabulary.json'));
ort.InferenceSession.create('model.onnx')
  .then(session => generate(ort, session, symbols, 'The ', {length: 60, window: 16}))
  .then(text => console.log(text));
END
node generate.js >found
diff expected found || { echo "docs/interoperability.md: generate() differs from heed generate"; exit 1; }
