// The JSON header of a safetensors file, to and from text (see core/safetensors.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/safetensors.h"

namespace heed::inline HEED_REAL {

struct SafetensorsHeader {
  std::vector<StoredArray> arrays;  // offsets count from the start of the data
  Metadata metadata;
};

// `file` is named in errors. Throws InputError for anything that is not exactly such a header.
SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file);
// Without padding.
std::string safetensors_header_text(const SafetensorsHeader& header);

// Element type and shape for a message, cut if there are many axes: "F32 [20, 300]".
std::string type_text(const ArrayHeader& array);

}  // namespace heed::inline HEED_REAL
