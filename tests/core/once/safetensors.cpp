// core/safetensors: the bytes of the format, and every kind of invalid header.
#include "core/safetensors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "core/check.h"
#include "core/random.h"
#include "core/tensor_file.h"
#include "temporary_folder.h"

using namespace heed;

namespace {

// A path for one test, removed at its end.
struct TemporaryFile {
  std::string path;
  TemporaryFile() {
    char name[] = "/tmp/heed-safetensors-XXXXXX";
    ::close(::mkstemp(name));
    path = name;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }

  std::string bytes() const {
    std::string text;
    std::FILE* file = std::fopen(path.c_str(), "rb");
    REQUIRE(file);
    for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
    std::fclose(file);
    return text;
  }
  void fill(const std::string& text) const {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    REQUIRE(file);
    REQUIRE(std::fwrite(text.data(), 1, text.size(), file) == text.size());
    std::fclose(file);
  }
};

std::string with_length(const std::string& header) {
  std::string text(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(text.data(), &length, 8);
  return text + header;
}

// The error on opening a file of these bytes; "" if it opens.
std::string complaint(const std::string& bytes) {
  TemporaryFile file;
  file.fill(bytes);
  const std::string text = thrown<InputError>([&] { SafetensorsFile(file.path); });
  CHECK_MESSAGE((text.empty() || text.starts_with(file.path + ": ")), text);
  return text;
}

std::string header_complaint(const std::string& header, size_t data_bytes = 0) {
  return complaint(with_length(header) + std::string(data_bytes, '\1'));
}

bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("safetensors: a file has exactly the bytes of the format") {
  TemporaryFile file;
  const float w[] = {1, 2};
  const int64_t n[] = {-1};
  const uint8_t flag[] = {7};
  write_safetensors(
      file.path,
      {{"w", DType::F32, {2, 1}, w}, {"a\"b", DType::U8, {}, flag}, {"n", DType::I64, {1}, n}},
      {{"format", "pt"}});
  std::string header =
      "{\"__metadata__\":{\"format\":\"pt\"},"
      "\"n\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
      "\"w\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[8,16]},"
      "\"a\\\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[16,17]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string data("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\x80\x3F\0\0\0\x40\x07", 17);
  CHECK(file.bytes() == with_length(header) + data);
}

TEST_CASE("safetensors: what is written is read back, whatever the order of the arrays") {
  std::vector<float> a(1000);
  std::iota(a.begin(), a.end(), 0.f);
  const std::vector<double> b{1e-300, -0.0};
  const NamedArray first{"layers.0.weight", DType::F32, {10, 1, 1, 2, 1, 5, 10}, a.data()};
  const NamedArray second{"läyer\n\x01", DType::F64, {2}, b.data()};
  const NamedArray nothing{"nothing", DType::F32, {0, 3}};
  const Metadata metadata{{"a", "\"\\\t/"}, {"", "ü𝄞"}};
  TemporaryFile one, other;
  write_safetensors(one.path, {first, second, nothing}, metadata);
  write_safetensors(other.path, {nothing, second, first}, metadata);
  CHECK(one.bytes() == other.bytes());

  const SafetensorsFile file(one.path);
  CHECK(file.metadata() == metadata);
  REQUIRE(file.arrays().size() == 3);
  REQUIRE(file.find("layers.0.weight"));
  CHECK(file.find("layers.0") == nullptr);
  CHECK(file.find("nothing")->dims == std::vector<int64_t>{0, 3});
  const NamedArray& stored = *file.find(first.name);
  CHECK(stored.dtype == DType::F32);
  CHECK(stored.dims == first.dims);
  CHECK(stored.offset % 8 == 0);
  std::vector<float> a_read(a.size());
  file.read(stored, a_read.data());
  CHECK(a_read == a);
  std::vector<double> b_read(2);
  file.read(*file.find(second.name), b_read.data());
  CHECK(std::memcmp(b_read.data(), b.data(), 16) == 0);
}

TEST_CASE("safetensors: headers of other writers are read") {
  TemporaryFile file;
  const std::string header =
      " {\n\t\"\\u0061\\ud834\\udd1e\\/\" : { \"data_offsets\" : [ 0 , 2 ] , \"shape\":[ 1 ],"
      "\"dtype\":\"BF16\" },\r\"e\":{\"dtype\":\"BOOL\",\"shape\":[0,9223372036854775807,4],"
      "\"data_offsets\":[2,2]} }  ";
  file.fill(with_length(header) + "ab");
  const SafetensorsFile opened(file.path);
  CHECK(opened.arrays().size() == 2);
  CHECK(opened.find("a𝄞/") != nullptr);
  CHECK(opened.find("e")->bytes() == 0);
  CHECK(opened.metadata().empty());
  CHECK(header_complaint("{}") == "");
}

TEST_CASE("safetensors: each element type has its name and its size") {
  struct Known {
    DType dtype;
    const char* name;
    int64_t size;
  };
  const Known all[] = {
      {DType::BOOL, "BOOL", 1},       {DType::U8, "U8", 1},           {DType::I8, "I8", 1},
      {DType::F8_E4M3, "F8_E4M3", 1}, {DType::F8_E5M2, "F8_E5M2", 1}, {DType::U16, "U16", 2},
      {DType::I16, "I16", 2},         {DType::F16, "F16", 2},         {DType::BF16, "BF16", 2},
      {DType::U32, "U32", 4},         {DType::I32, "I32", 4},         {DType::F32, "F32", 4},
      {DType::U64, "U64", 8},         {DType::I64, "I64", 8},         {DType::F64, "F64", 8}};
  for (const auto& [dtype, name, size] : all) {
    CHECK(dtype_name(dtype) == std::string(name));
    CHECK(dtype_size(dtype) == size);
    CHECK(dtype_named(name) == dtype);
  }
  for (const char* unknown : {"", "f32", "F32 ", "F128"}) CHECK(!dtype_named(unknown));
  CHECK_THROWS_AS(dtype_name(static_cast<DType>(99)), Error);
}

TEST_CASE("safetensors: a file of another format is rejected") {
  CHECK(contains(complaint(""), "0 bytes are too few"));
  CHECK(contains(complaint("{}"), "too few"));
  CHECK(contains(complaint(std::string(100, '\xFF')),
                 "claims a header of 18446744073709551615 bytes"));
  CHECK(
      contains(complaint(std::string("\0\0\0\0\1\0\0\0{}", 10)), "claims a header of 4294967296"));
  CHECK(contains(header_complaint("[]"), "a list out of place at its start"));
  CHECK_THROWS_AS(SafetensorsFile("/tmp"), InputError);
  CHECK_THROWS_AS(SafetensorsFile("/dev/zero"), InputError);
  CHECK_THROWS_AS(SafetensorsFile("/nowhere/at all"), InputError);
}

TEST_CASE("safetensors: a header that does not fit the file is rejected") {
  const auto array = [](const char* dtype, const char* shape, const char* offsets) {
    return fmt::format("\"x\":{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":{}}}", dtype, shape,
                       offsets);
  };
  const auto one = [&](const char* dtype, const char* shape, const char* offsets, size_t bytes) {
    return header_complaint("{" + array(dtype, shape, offsets) + "}", bytes);
  };
  CHECK(one("F32", "[2]", "[0,8]", 8) == "");
  CHECK(contains(one("F32", "[2]", "[0,8]", 7), "'x' ends at byte 8 of 7"));
  CHECK(contains(one("F32", "[2]", "[0,8]", 9), "1 bytes follow"));
  CHECK(contains(one("F32", "[3]", "[0,8]", 8), "12 bytes, but has bytes 0 to 8"));
  CHECK(contains(one("F64", "[2]", "[0,8]", 8), "F64 [2], 16 bytes"));
  CHECK(contains(one("F32", "[2]", "[8,0]", 8), "bytes 8 to 0"));
  CHECK(contains(one("F32", "[2]", "[4,12]", 12), "starts at byte 4"));
  CHECK(contains(one("F32", "[-2]", "[0,8]", 8),
                 "a negative number out of place after the key 'shape'"));
  CHECK(contains(one("F32", "[2.0]", "[0,8]", 8), "a fraction"));
  CHECK(contains(one("F32", "[02]", "[0,8]", 8), "a mistake at byte 38, syntax error"));
  CHECK(contains(one("F32", "[1e3]", "[0,8]", 8), "a fraction"));
  CHECK(contains(one("Q4", "[2]", "[0,8]", 8), "unknown element type 'Q4'"));
  CHECK(contains(one("F32", "[2]", "[0]", 8), "'x' with other keys than"));
  CHECK(contains(one("F32", "[2]", "[]", 8), "'x' with other keys than"));
  CHECK(contains(one("F32", "[1000000000000]", "[0,4000000000000]", 8), "cut short"));
  CHECK(contains(one("F32", "[9223372036854775808]", "[0,8]", 8), "beyond 2^63"));
  CHECK(contains(one("F32", "[4294967296,4294967296]", "[0,0]", 0), "more than 2^63 bytes"));
  CHECK(contains(one("U8", "[4294967296,4294967296]", "[0,0]", 0), "more than 2^63 bytes"));
  const std::string x = array("U8", "[1]", "[0,1]");
  CHECK(contains(header_complaint("{" + x + "," + x + "}", 1), "'x' twice"));
  CHECK(contains(header_complaint("{" + x + ",}", 1), "expected string literal"));
  CHECK(contains(header_complaint("{" + x + "} x", 1), "expected end of input"));
  CHECK(contains(header_complaint("{" + x, 1), "unexpected end of input"));
  const auto y = [](const char* offsets) {
    return fmt::format(",\"y\":{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{}}}}}", offsets);
  };
  CHECK(header_complaint("{" + x + y("[1,2]"), 2) == "");
  CHECK(contains(header_complaint("{" + x + y("[0,1]"), 2), "'y' starts at byte 0"));
  CHECK(contains(header_complaint("{" + x + y("[2,3]"), 3), "'y' starts at byte 2"));
}

TEST_CASE("safetensors: a malformed header is rejected") {
  CHECK(contains(header_complaint("{\"x\":{\"dtype\":\"U8\",\"shape\":[0]}}"),
                 "'x' with other keys than"));
  CHECK(contains(header_complaint("{\"x\":{\"shape\":[0],\"shape\":[0]}}"), "'shape' twice"));
  CHECK(contains(header_complaint("{\"x\":{\"other\":1}}"), "a number out of place"));
  CHECK(contains(header_complaint("{\"x\":{\"other\":\"\"}}"), "after the key 'other'"));
  CHECK(contains(header_complaint("{\"__metadata__\":{\"a\":1}}"), "a number out of place"));
  CHECK(contains(header_complaint("{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}"), "'a' twice"));
  CHECK(contains(header_complaint("{\"x\":" + std::string(1 << 20, '[')), "a list out of place"));
  CHECK(
      contains(header_complaint("{\"x\":" + std::string(1 << 20, '{')), "expected string literal"));
  for (const char* bad : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
    CHECK(contains(header_complaint(fmt::format("{{\"{}\":1}}", bad)), "ill-formed UTF-8"));
  for (const char* bad : {"\\ud834", "\\ud834\\u0041", "\\udd1e"})
    CHECK(contains(header_complaint(fmt::format("{{\"{}\":1}}", bad)), "surrogate"));
  for (const char* bad : {"\\x", "\\x0041", "\\u12G4", "\\u12", "\\u::::"})
    CHECK(contains(header_complaint(fmt::format("{{\"{}\":1}}", bad)), "invalid string"));
  CHECK(contains(header_complaint("{\"a\nb\":1}"), "control character"));
  CHECK(contains(header_complaint(std::string("{\"a\":{\0}}", 9)), "a mistake at byte 14"));
  CHECK(contains(header_complaint("{\"\\u001b[31m\":{}}"), "'\\x1b[31m'"));
}

TEST_CASE("safetensors: no damaged header crashes the reader") {
  const std::string valid = with_length(
      "{\"__metadata__\":{\"k\":\"v\\u00e9\"},\"x\":{\"dtype\":\"F32\",\"shape\":[1,2],"
      "\"data_offsets\":[0,8]},\"y\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[8,9]}}");
  REQUIRE(complaint(valid + std::string(9, '\0')) == "");
  for (size_t length = 0; length < valid.size(); ++length)
    CHECK(complaint(valid.substr(0, length)) != "");
  Random random(1, Purpose::test);
  int rejected = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = valid + std::string(9, '\0');
    for (int flips = 0; flips < 3; ++flips)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    rejected += complaint(bytes) != "";
  }
  CHECK(rejected > 1000);
}

TEST_CASE("safetensors: errors of writing and reading name the file") {
  const float x = 1;
  const NamedArray array{"x", DType::F32, {}, &x};
  CHECK_THROWS_WITH_AS(write_safetensors("/nowhere/x", {array}),
                       "/nowhere/x: cannot write: No such file or directory", Error);
  TemporaryFile file;

  write_safetensors(file.path, {array});
  const SafetensorsFile opened(file.path);
  REQUIRE(::truncate(file.path.c_str(), 20) == 0);
  float read = 0;
  CHECK_THROWS_AS(opened.read(opened.arrays()[0], &read), InputError);
}

TEST_CASE("safetensors: a name that a file cannot hold is named, and no file is written") {
  const TemporaryFolder folder;
  const std::string path = folder / "n.safetensors";
  const auto error = [&](const std::vector<NamedParameter>& tensors, const Metadata& about = {}) {
    std::string text = thrown<Error>([&] { write_tensors(path, tensors, about); });
    CHECK(std::filesystem::is_empty(folder.path));
    return text;
  };
  const Tensor x = Tensor::zeros({1});
  CHECK(error({{"__metadata__", x}}) ==
        "safetensors: cannot save an array as '__metadata__': the format reserves this name; "
        "rename it");
  CHECK(error({{"good", x}, {"w\xff", x}}) ==
        "safetensors: cannot save an array as 'w\\xff': the name is not UTF-8; rename it");
  CHECK(error({{"w", x}, {"w", x}}) ==
        "safetensors: cannot save an array as 'w': two arrays have this name; rename it");
  CHECK(error({{"w", x}}, {{"title", "a\xc3"}}) ==
        "safetensors: cannot save the metadata 'title': 'a\\xc3' is not UTF-8");
  CHECK_CONTAINS(error({{"w", x}}, {{"\xc0\x80", ""}}), "is not UTF-8");

  write_tensors(path, {{"__metadata__ ", x}, {"ü\n\x01", x}}, {{"__metadata__", ""}});
  CHECK(read_tensors(path).count("ü\n\x01") == 1);
}

TEST_CASE("safetensors: a full disk is an error that names the file") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::vector<float> x(4096);
  TemporaryFile file;
  std::string text;
  try {
    write_safetensors(file.path, {{"x", DType::F32, {4096}, x.data()}});
  } catch (const Error& error) {
    text = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, handler);
  CHECK_MESSAGE(text.starts_with(file.path + ": cannot write: "), text);
  CHECK(contains(text, "make room"));
}
