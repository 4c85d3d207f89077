// Defines nn/module.h.
#include "nn/module.h"

namespace heed::inline HEED_REAL {

void Module::collect(const std::string& prefix, std::vector<NamedParameter>& into,
                     std::unordered_set<const TensorBody*>& known) const {
  for (const Member& member : members_) {
    const std::string name = prefix + member.name;
    if (member.child)
      member.child->collect(name + ".", into, known);
    else if (*member.parameter && known.insert(&member.parameter->body()).second)
      into.push_back({name, *member.parameter});
  }
}

std::vector<NamedParameter> Module::parameters() const {
  std::vector<NamedParameter> all;
  std::unordered_set<const TensorBody*> known;
  collect("", all, known);
  return all;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const NamedParameter& parameter : parameters()) count += parameter.tensor.size();
  return count;
}

}  // namespace heed::inline HEED_REAL
