// Messages of Protocol Buffers, the encoding of ONNX files
// (https://protobuf.dev/programming-guides/encoding). A field is a tag, 8 · number + type, and a
// value: a varint of 7 bits a byte (type 0), a length and that many bytes (2), or 4 bytes (5).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace heed::onnx {

class Message {
 public:
  Message& integer(int field, int64_t value) {
    varint(tag(field, 0));
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& number(int field, float value) {
    varint(tag(field, 5));
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    varint(tag(field, 2));
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  static uint64_t tag(int field, int type) { return static_cast<uint64_t>(8 * field + type); }
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace heed::onnx
