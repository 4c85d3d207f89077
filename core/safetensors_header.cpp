// The header as nlohmann/json's parser reports it, part by part. Other content is skipped, however
// deep or large. The form of a header:
//
// clang-format off
//   header = { entry , … }
//   entry  = "__metadata__" : { string : string , … }
//          | string : array
//   array  = { "dtype" : string , "shape" : [ n , … ] , "data_offsets" : [ n , n ] }   in any order
// clang-format on
#include "core/safetensors_header.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <set>

#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed::inline HEED_REAL {
namespace {

class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  SafetensorsHeader header;

  bool start_object(size_t) override {
    if (depth_ >= in_entry) out_of_place("an object");
    ++depth_;
    return true;
  }
  bool key(std::string& name) override {
    std::set<std::string>& names = depth_ == in_header ? entries_ : keys_;
    if (!names.insert(name).second) fail(fmt::format("{} twice", in_quotes(name, '\'')));
    if (depth_ == in_header) {
      entry_.name = name;
      is_metadata_ = name == "__metadata__";
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() override {
    if (depth_ == in_entry && !is_metadata_) add_array();
    if (depth_ == in_entry) keys_.clear();
    --depth_;
    return true;
  }

  bool string(std::string& value) override {
    if (depth_ == in_entry && is_metadata_)
      header.metadata[key_] = std::move(value);
    else if (depth_ == in_entry && key_ == "dtype")
      entry_.dtype = dtype_of(value);
    else
      out_of_place("a string");
    return true;
  }
  bool start_array(size_t) override {
    const bool is_list = key_ == "shape" || key_ == "data_offsets";
    if (depth_ != in_entry || is_metadata_ || !is_list) out_of_place("a list");
    ++depth_;
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (depth_ != in_list) out_of_place("a number");
    if (value > std::numeric_limits<int64_t>::max()) fail("a number beyond 2^63");
    (key_ == "shape" ? entry_.dims : offsets_).push_back(static_cast<int64_t>(value));
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool null() override { out_of_place("null"); }
  bool boolean(bool) override { out_of_place("true or false"); }
  bool number_integer(int64_t) override { out_of_place("a negative number"); }
  bool number_float(double, const std::string&) override { out_of_place("a fraction"); }
  bool binary(binary_t&) override { return false; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    std::string_view problem = error.what();
    problem.remove_prefix(problem.find(": ") + 2);
    fail(fmt::format("a mistake at byte {}, {}", position + 7, shortened(problem, 200)));
  }

 private:
  enum Depth { in_file, in_header, in_entry, in_list };

  [[noreturn]] void fail(std::string_view found) const {
    throw InputError(fmt::format(
        "{}: not a sound safetensors file: its header has {}; copy or save the file again", file_,
        found));
  }
  [[noreturn]] void out_of_place(const char* what) const {
    fail(fmt::format("{} out of place {}", what,
                     key_.empty() ? "at its start" : "after the key " + in_quotes(key_, '\'')));
  }

  void add_array() {
    if (keys_ != std::set<std::string>{"dtype", "shape", "data_offsets"} || offsets_.size() != 2)
      fail(fmt::format("the array {} with other keys than dtype, shape and two data_offsets",
                       in_quotes(entry_.name, '\'')));
    entry_.offset = offsets_[0];
    check_span(entry_, offsets_[1]);
    header.arrays.push_back(std::exchange(entry_, {}));
    offsets_.clear();
  }

  // The bytes that are there must be the bytes that dtype and shape ask for.
  void check_span(const StoredArray& array, int64_t end) const {
    int64_t expected = 0;
    try {
      expected = array.bytes();
    } catch (const Error& error) {
      throw InputError(fmt::format("{}: {}", file_, error.what()));
    }
    check_input(end >= array.offset && end - array.offset == expected,
                "{}: the array {} is {}, {} bytes, but has bytes {} to {}; copy or save the file "
                "again",
                file_, in_quotes(array.name, '\''), type_text(array), expected, array.offset, end);
  }

  DType dtype_of(const std::string& word) const {
    const std::optional<DType> dtype = dtype_named(word);
    check_input(dtype.has_value(), "{}: the array {} has an unknown element type {}", file_,
                in_quotes(entry_.name, '\''), in_quotes(word, '\''));
    return *dtype;
  }

  const std::string& file_;
  int depth_ = in_file;
  std::set<std::string> entries_;  // names so far
  bool is_metadata_ = false;       // of the current entry
  std::set<std::string> keys_;     // of the current entry, so far
  std::string key_;                // the last one
  StoredArray entry_;
  std::vector<int64_t> offsets_;
};

}  // namespace

std::string type_text(const ArrayHeader& array) {
  return fmt::format("{} [{}]", dtype_name(array.dtype), shortened(joined(array.dims)));
}

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file) {
  HeaderReader reader(file);
  nlohmann::json::sax_parse(text, &reader);
  return std::move(reader.header);
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  std::string text = "{";
  const auto separator = [&] { return text.size() == 1 ? "" : ","; };
  if (!header.metadata.empty()) {
    std::string members;
    for (const auto& [key, value] : header.metadata)
      members += fmt::format("{}{}:{}", members.empty() ? "" : ",", string_literal(key),
                             string_literal(value));
    text += fmt::format("\"__metadata__\":{{{}}}", members);
  }
  for (const StoredArray& array : header.arrays)
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        separator(), string_literal(array.name), dtype_name(array.dtype),
                        joined(array.dims, ","), array.offset, array.offset + array.bytes());
  return text += '}';
}

}  // namespace heed::inline HEED_REAL
