// A vocabulary that exists, with which data are read.
#pragma once

#include <memory>
#include <string>

#include "core/fields.h"
#include "data/text_codec.h"

namespace heed {

// How tokens that the vocabulary lacks are handled.
enum class NewTokens { refuse, unknown, add };
inline constexpr Named<NewTokens> new_tokens_names[] = {
    {"refuse", NewTokens::refuse}, {"unknown", NewTokens::unknown}, {"add", NewTokens::add}};

struct ExistingVocabulary {
  // One object for one vocabulary. Null: chosen from the data.
  std::shared_ptr<const TextCodec> source, target;
  std::string origin;  // its run or file, for messages; empty for the run that the data are of
  // Added tokens follow the existing ones, so that no id changes. They are those of training;
  // others become <unk>.
  NewTokens new_tokens = NewTokens::refuse;
};

}  // namespace heed
