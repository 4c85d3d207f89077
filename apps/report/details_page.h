// The sections of a page that show the details of a run (apps/report/details.h), as HTML. A section
// without content is "".
#pragma once

#include <string>

#include "apps/support/json.h"

namespace heed {

std::string attention_part(const Json& details);
std::string samples_part(const Json& details);
std::string errors_part(const Json& details);
std::string profile_part(const Json& details);
std::string model_part(const Json& details);

}  // namespace heed
