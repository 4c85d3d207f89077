// SHA-256 by OpenSSL, whose header is slow to compile: see apps/support/files.h.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

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
  void add(const char* bytes, size_t count) { EVP_DigestUpdate(context_.get(), bytes, count); }
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
  digest.add(text.data(), text.size());
  return digest.digits();
}

std::string sha256_of_file(const std::string& path) {
  // Not blocking: a FIFO would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  check_input(static_cast<bool>(file), "{}: cannot read: {}", path, std::strerror(errno));
  struct stat status {};
  check_input(::fstat(file, &status) == 0 && S_ISREG(status.st_mode),
              "{}: cannot read: not a plain file", path);
  Sha256 digest;
  std::string buffer(1 << 20, '\0');
  ssize_t got = 0;
  do {
    got = ::read(file, buffer.data(), buffer.size());
    if (got > 0) digest.add(buffer.data(), static_cast<size_t>(got));
  } while (got > 0 || (got < 0 && errno == EINTR));
  check_input(got == 0, "{}: cannot read: {}", path, std::strerror(errno));
  return digest.digits();
}

}  // namespace heed
