// The sections of a page that show the details of a run (lab/report/details.h), as HTML. A section
// without content is "".
#pragma once

#include <string>

#include "lab/report/details.h"

namespace heed {

std::string attention_part(const Details& details);
std::string samples_part(const Details& details);
std::string errors_part(const Details& details);
std::string profile_part(const Details& details);
std::string model_part(const Details& details);

}  // namespace heed
