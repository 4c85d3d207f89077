#include "nn/module.h"

#include <algorithm>

namespace heed::inline HEED_REAL {

void Module::collect(const std::string& prefix, std::vector<NamedParameter>& into) const {
  for (const Member& member : members_) {
    const std::string name = prefix + member.name;
    if (member.child) {
      member.child->collect(name + ".", into);
    } else if (*member.parameter) {
      const bool tied = std::any_of(into.begin(), into.end(), [&](const NamedParameter& known) {
        return known.tensor.same_as(*member.parameter);
      });
      if (!tied) into.push_back({name, *member.parameter});
    }
  }
}

std::vector<NamedParameter> Module::parameters() const {
  std::vector<NamedParameter> all;
  collect("", all);
  return all;
}

std::optional<std::string> Module::name_of(const Module& part) const {
  if (this == &part) return "";
  for (const Member& member : members_) {
    if (!member.child) continue;
    const std::optional<std::string> inside = member.child->name_of(part);
    if (inside) return member.name + (inside->empty() ? "" : ".") + *inside;
  }
  return std::nullopt;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const NamedParameter& parameter : parameters()) count += parameter.tensor.size();
  return count;
}

}  // namespace heed::inline HEED_REAL
