#include "apps/support/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <limits>
#include <memory>

#include "apps/support/files.h"
#include "core/check.h"

namespace heed {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    check(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
          "OpenSSL does not provide SHA-256");
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string digits() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &length);
    std::string digits;
    for (unsigned i = 0; i < length; ++i) digits += fmt::format("{:02x}", digest[i]);
    return digits;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::string sha256(std::string_view text) {
  Sha256 digest;
  digest.add(text);
  return digest.digits();
}

std::string sha256_of_file(const std::string& path) {
  Sha256 digest;
  read_parts(path, "plain file", std::numeric_limits<int64_t>::max(),
             [&](std::string_view part) { digest.add(part); });
  return digest.digits();
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');  // OpenSSL adds a NUL, as std::string does
  ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
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
