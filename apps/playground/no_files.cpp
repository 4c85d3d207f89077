// What data reads files with, for a program that has none: replaces data/packed_file.cpp
// (zlib) and data/subwords.cpp (SentencePiece). session.cpp refuses configs that would come here.
#include "core/check.h"
#include "data/packed_file.h"
#include "data/subwords.h"

struct gzFile_s {};

namespace sentencepiece {
class SentencePieceProcessor {};
}  // namespace sentencepiece

namespace heed {
namespace {

[[noreturn]] void no_files() { throw InputError("a page reads no files"); }

}  // namespace

PackedFile::PackedFile(const std::string&) : max_bytes_(0), file_(nullptr, nullptr) { no_files(); }
size_t PackedFile::read(std::span<uint8_t>) { no_files(); }

Subwords::Subwords(std::string) { no_files(); }
Subwords::~Subwords() = default;
std::string Subwords::train(const std::vector<std::string_view>&, int64_t) { no_files(); }
void Subwords::append(std::string_view, std::vector<int32_t>&) const { no_files(); }

}  // namespace heed
