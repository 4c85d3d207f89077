#include "data/array_examples.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"
#include "core/safetensors.h"

namespace heed {

namespace {

template <class Stored>
std::vector<double> converted(const SafetensorsFile& file, const NamedArray& array) {
  std::vector<Stored> stored(static_cast<size_t>(array.bytes()) / sizeof(Stored));
  file.read(array, stored.data());
  return {stored.begin(), stored.end()};
}

bool is_integer(DType dtype) { return dtype == DType::I64 || dtype == DType::I32; }

std::vector<double> elements(const SafetensorsFile& file, const NamedArray& array) {
  switch (array.dtype) {
    case DType::F32:
      return converted<float>(file, array);
    case DType::F64:
      return converted<double>(file, array);
    case DType::I32:
      return converted<int32_t>(file, array);
    case DType::I64:
      return converted<int64_t>(file, array);
    default:
      throw InputError(fmt::format("{}: `{}`: expected F32, F64, I32 or I64, found {}", file.path(),
                                   array.name, dtype_name(array.dtype)));
  }
}

const NamedArray& array_in(const SafetensorsFile& file, const char* name) {
  const NamedArray* const array = file.find(name);
  check_input(array, "{}: there is no array \"{}\"", file.path(), name);
  return *array;
}

// What examples of these arrays have in common.
struct ArrayShapes {
  int64_t examples, positions, width, targets;  // targets: of an example
  std::vector<int32_t> grid;
};

ArrayShapes shapes_of(const SafetensorsFile& file, const NamedArray& input,
                      const NamedArray& target) {
  for (const NamedArray& array : file.arrays())
    check_input(array.name == "input" || array.name == "target",
                "{}: expected the arrays \"input\" and \"target\", found {}", file.path(),
                array.name);
  const std::vector<int64_t>& dims = input.dims;
  check_input(dims.size() >= 2 && *std::min_element(dims.begin(), dims.end()) > 0 &&
                  !target.dims.empty() && target.dims[0] == dims[0],
              "{}: expected \"input\" with the axes (examples, positions, features) and as many "
              "examples in \"target\", found {} and {}",
              file.path(), type_text(input), type_text(target));
  ArrayShapes shapes{dims[0], 1, dims.size() == 2 ? 1 : dims.back(), 1, {}};
  const size_t last = std::max<size_t>(2, dims.size() - 1);  // past the axes of positions
  for (size_t axis = 1; axis < last; ++axis) shapes.positions *= dims[axis];
  if (last > 2) shapes.grid.assign(dims.begin() + 1, dims.begin() + static_cast<ptrdiff_t>(last));
  for (size_t axis = 1; axis < target.dims.size(); ++axis) shapes.targets *= target.dims[axis];
  check_input(
      target.dims.size() == 1 || shapes.targets == shapes.positions,
      "{}: expected one target for an example, or one at each of its {} positions, found {}",
      file.path(), shapes.positions, type_text(target));
  return shapes;
}

}  // namespace

void for_each_array_example(const std::string& path,
                            const std::function<void(ExampleLine& example, int64_t i)>& visit) {
  const SafetensorsFile file(path);
  const NamedArray &input = array_in(file, "input"), &target = array_in(file, "target");
  const auto [examples, positions, width, targets, grid] = shapes_of(file, input, target);
  const std::vector<double> vectors = elements(file, input), all_targets = elements(file, target);
  const bool whole = target.dims.size() == 1;
  std::vector<std::string> names(static_cast<size_t>(targets));
  for (int64_t i = 0; i < examples; ++i) {
    ExampleLine line;
    line.input_key = "input";
    line.grid = grid;
    line.input = {.form = LineValue::Form::vectors, .width = width, .size = positions};
    const double* const first = vectors.data() + i * positions * width;
    line.input.numbers.assign(first, first + positions * width);
    const auto is_finite = [](float x) { return std::isfinite(x); };
    const std::vector<float>& numbers = line.input.numbers;
    check_input(std::all_of(numbers.begin(), numbers.end(), is_finite),
                "{}: \"input\": example {} has a number that is not finite", path, i);
    const double* const own = all_targets.data() + i * targets;
    if (!is_integer(target.dtype)) {
      line.target = {.form = whole ? LineValue::Form::number : LineValue::Form::numbers,
                     .size = targets};
      line.target.numbers.assign(own, own + targets);
      for (const float number : line.target.numbers)
        check_input(!std::isinf(number) && !(whole && std::isnan(number)),
                    "{}: \"target\": example {} has a number that is not finite", path, i);
    } else {
      line.target = {.form = whole ? LineValue::Form::text : LineValue::Form::tokens,
                     .size = targets};
      for (size_t t = 0; t < names.size(); ++t) {
        names[t] = std::to_string(static_cast<int64_t>(own[t]));
        const bool is_none = own[t] == -1 && !whole;
        if (whole)
          line.target.text = names[t];
        else
          line.target.tokens.push_back(is_none ? std::string_view() : std::string_view(names[t]));
        line.target.has_null |= is_none;
      }
    }
    visit(line, i);
  }
}

}  // namespace heed
