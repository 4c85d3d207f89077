// save() and load() of a module.
#include "nn/save.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "checks.h"
#include "core/check.h"
#include "core/safetensors.h"
#include "nn/linear.h"

using namespace heed;

namespace {

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("heed-save-" + std::to_string(std::random_device()()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path),
                                             std::filesystem::directory_iterator()));
  }
};

template <class E>
std::string error_of(const auto& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

std::vector<real> all_values(const Module& module) {
  std::vector<real> values;
  for (const NamedParameter& p : module.parameters())
    values.insert(values.end(), p.tensor.values().begin(), p.tensor.values().end());
  return values;
}

}  // namespace

TEST_CASE("save: a module loads the bits that another saved") {
  Folder folder;
  scope().seed = 1;
  const Linear saved(3, 2);
  scope().seed = 2;
  Linear loaded(3, 2);
  CHECK(all_values(saved) != all_values(loaded));
  save(saved, folder / "a.safetensors");
  CHECK(folder.files() == 1);  // nothing aside is left
  load(loaded, folder / "a.safetensors");
  CHECK(all_values(saved) == all_values(loaded));
}

TEST_CASE("save: a file that does not fit changes nothing and is named") {
  Folder folder;
  const std::string file = folder / "a.safetensors";
  save(Linear(3, 2), file);
  Linear wider(4, 2), plain(3, 2, {.bias = false});
  const std::vector<real> before = all_values(wider);
  CHECK_CONTAINS(error_of<InputError>([&] { load(wider, file); }),
                 file + ": module: parameter \"weight\" has shape [2, 4], its value [2, 3]");
  CHECK(all_values(wider) == before);
  CHECK_CONTAINS(error_of<InputError>([&] { load(plain, file); }),
                 file + ": module: there are no parameters bias");
  CHECK_CONTAINS(error_of<InputError>([&] { load(wider, folder / "none"); }), folder / "none");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  CHECK_CONTAINS(error_of<InputError>([&] { load(wider, file); }), file);

  // Elements of another type, and more axes than a tensor has.
  const std::vector<double> numbers(6);
  const std::vector<int32_t> integers(6);
  write_safetensors(file, {{{"weight", DType::I32, {2, 3}}, integers.data()}});
  CHECK_CONTAINS(error_of<InputError>([&] { load(wider, file); }),
                 "weight has elements of type I32");
  write_safetensors(
      file, {{{"weight", sizeof(real) == 4 ? DType::F32 : DType::F64, {1, 1, 1, 1, 1, 1, 6}},
              numbers.data()}});
  CHECK_CONTAINS(error_of<InputError>([&] { load(wider, file); }), "weight has 7 axes");
}

TEST_CASE("save: a folder that is missing leaves nothing") {
  Folder folder;
  CHECK_CONTAINS(error_of<Error>([&] { save(Linear(3, 2), folder / "none/a.safetensors"); }),
                 folder / "none");
  // A folder of the file's name cannot be replaced.
  std::filesystem::create_directory(folder / "taken");
  std::ofstream(folder / "taken/file") << "x";
  CHECK_CONTAINS(error_of<Error>([&] { save(Linear(3, 2), folder / "taken"); }), folder / "taken");
  CHECK(folder.files() == 1);
}
