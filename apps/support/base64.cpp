#include "apps/support/base64.h"

#include <openssl/evp.h>

#include "core/check.h"

namespace heed {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL adds a NUL
  text.resize(static_cast<size_t>(::EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(text.data()),
      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()))));
  return text;
}

std::string bytes_of_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length = text.size() % 4 == 0
                         ? ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                             reinterpret_cast<const unsigned char*>(text.data()),
                                             static_cast<int>(text.size()))
                         : -1;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) {
    text.remove_suffix(1);
    bytes.pop_back();
  }
  check_input(length >= static_cast<int>(bytes.size()) && text.find('=') == text.npos,
              "not a text in base64");
  return bytes;
}

}  // namespace heed
