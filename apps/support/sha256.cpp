// SHA-256 by OpenSSL, whose header is slow to compile: see apps/support/files.h.
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

}  // namespace heed
