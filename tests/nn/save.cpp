// save() and load() of a module.
#include "nn/save.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "checks.h"
#include "core/check.h"
#include "core/safetensors.h"
#include "nn/linear.h"
#include "temporary_folder.h"

using namespace heed;

namespace {

int64_t files_in(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path),
                       std::filesystem::directory_iterator());
}

std::vector<real> all_values(const Module& module) {
  std::vector<real> values;
  for (const NamedParameter& p : module.parameters())
    values.insert(values.end(), p.tensor.values().begin(), p.tensor.values().end());
  return values;
}

}  // namespace

TEST_CASE("save: a module loads the bits that another saved") {
  const TemporaryFolder folder;
  scope().seed = 1;
  const Linear saved(3, 2);
  scope().seed = 2;
  Linear loaded(3, 2);
  CHECK(all_values(saved) != all_values(loaded));
  save(saved, folder / "a.safetensors");
  CHECK(files_in(folder) == 1);  // nothing aside is left
  load(loaded, folder / "a.safetensors");
  CHECK(all_values(saved) == all_values(loaded));
}

TEST_CASE("save: a file that does not fit changes nothing and is named") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.safetensors";
  save(Linear(3, 2), file);
  Linear wider(4, 2), plain(3, 2, {.bias = false});
  const std::vector<real> before = all_values(wider);
  CHECK_CONTAINS(thrown<InputError>([&] { load(wider, file); }),
                 file + ": module: parameter \"weight\" has shape [2, 4], its value [2, 3]");
  CHECK(all_values(wider) == before);
  CHECK_CONTAINS(thrown<InputError>([&] { load(plain, file); }),
                 file + ": module: there are no parameters bias");
  CHECK_CONTAINS(thrown<InputError>([&] { load(wider, folder / "none"); }), folder / "none");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  CHECK_CONTAINS(thrown<InputError>([&] { load(wider, file); }), file);

  // Elements of another type, and more axes than a tensor has.
  const std::vector<double> numbers(6);
  const std::vector<int32_t> integers(6);
  write_safetensors(file, {{"weight", DType::I32, {2, 3}, integers.data()}});
  CHECK_CONTAINS(thrown<InputError>([&] { load(wider, file); }), "weight has elements of type I32");
  write_safetensors(file, {{"weight",
                            sizeof(real) == 4 ? DType::F32 : DType::F64,
                            {1, 1, 1, 1, 1, 1, 6},
                            numbers.data()}});
  CHECK_CONTAINS(thrown<InputError>([&] { load(wider, file); }), "weight has 7 axes");
}

TEST_CASE("save: a folder that is missing leaves nothing") {
  const TemporaryFolder folder;
  CHECK_CONTAINS(thrown<Error>([&] { save(Linear(3, 2), folder / "none/a.safetensors"); }),
                 folder / "none");
  // A folder of the file's name cannot be replaced.
  folder.write("taken/file", "x");
  CHECK_CONTAINS(thrown<Error>([&] { save(Linear(3, 2), folder / "taken"); }), folder / "taken");
  CHECK(files_in(folder) == 1);
}
