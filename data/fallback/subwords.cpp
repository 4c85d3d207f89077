// Defines subwords.h for a build without SentencePiece: every call is an error that names it.
#include "data/subwords.h"

#include "core/check.h"

namespace sentencepiece {
class SentencePieceProcessor {};
}  // namespace sentencepiece

namespace heed {

[[noreturn]] static void missing() {
  throw InputError(
      "subwords need SentencePiece, which this build of heed does not have: install it (in Debian "
      "libsentencepiece-dev) and build heed again, or set `level` to another level");
}

Subwords::Subwords(std::string) { missing(); }
Subwords::~Subwords() = default;
std::string Subwords::train(const std::vector<std::string_view>&, int64_t) { missing(); }
void Subwords::append(std::string_view, std::vector<int32_t>&) const { missing(); }

}  // namespace heed
