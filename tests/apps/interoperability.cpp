// docs/interoperability.md: its Python computes the logits of heed. Needs PyTorch for Debian's
// Python; the test `pytorch` of ctest runs it.
#include <doctest/doctest.h>

#include <filesystem>

#include "apps/training/saved_run.h"
#include "core/inference_scope.h"
#include "core/safetensors.h"
#include "program.h"

using namespace heed;

namespace {

// Trains a run and writes the logits of its model for some inputs.
void write_example(const TemporaryFolder& folder, const std::string& name,
                   const std::string& config, const Inputs& in) {
  write_file(folder / (name + ".toml"), config);
  heed_ok(folder.path, {"train", name + ".toml", "--run", name});
  const InferenceScope here;
  const SavedRun run = SavedRun::open(folder / name);
  const Tensor logits = run.model(run.vocabulary(), run.checkpoint("best").model())->logits(in);
  std::vector<NamedArray> arrays;
  const auto add = [&](const char* array, DType type, const Shape& shape, const void* data) {
    arrays.push_back({array, type, {shape.begin(), shape.end()}, data});
  };
  if (in.source) add("source", DType::I32, in.source.shape(), in.source.data());
  if (in.source) add("lengths", DType::I32, in.source_lengths.shape(), in.source_lengths.data());
  add("input", DType::I32, in.input.shape(), in.input.data());
  add("logits", DType::F32, logits.shape(), logits.data());
  write_safetensors(folder / (name + ".safetensors"), arrays);
}

constexpr const char* compare = R"(
awk '/^```/ { code = 0 } code { print } /^```python/ { code = 1 }' page.md >page.py
cat >compare.py <<END
from page import *
for name, model in (("translation", seq2seq), ("language", language_model)):
    example, _ = read_safetensors(name + ".safetensors")
    inputs = [torch.tensor(example[key]).long() for key in ("source", "lengths", "input") if key in example]
    with torch.no_grad():
        error = np.abs(model(name)(*inputs).numpy() - example["logits"]).max()
    most = max(1, np.abs(example["logits"]).max())
    print(name, "ok" if error <= 1e-5 * most else f"differs by {error} of {most}")
END
/usr/bin/python3 compare.py
)";

}  // namespace

TEST_CASE("interoperability: PyTorch computes the same logits with the lines of the page" *
          doctest::skip()) {
  const TemporaryFolder folder;
  if (shell_in(folder.path, "/usr/bin/python3 -c 'import torch, numpy, tomllib'").code != 0) {
    MESSAGE("skipped: /usr/bin/python3 has no torch: apt-get install python3-torch");
    return;
  }
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::filesystem::copy(root / "docs" / "interoperability.md", folder / "page.md");
  write_example(folder, "translation", tiny_config(),
                {.source = Ids::from({2, 4}, {0, 1, 2, 3, 4, 0, 0, 0}),
                 .source_lengths = Ids::from({2}, {4, 1}),
                 .input = Ids::from({2, 3}, {5, 1, 2, 5, 4, 4})});
  write_example(folder, "language", R"(
[train]
steps = 30
[model]
kind = "language_model"
layers = 2
dim = 16
activation = "gelu"
bias = false
[model.positional]
kind = "learned"
max_length = 20
[data]
kind = "text"
path = "page.md"
context = 20
)",
                {.input = Ids::from({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})});
  const ProgramOutput output = shell_in(folder.path, compare);
  CHECK_MESSAGE(output.out == "translation ok\nlanguage ok\n", output.out, output.err);
}
