// A named tree of parameters, and nothing else. A layer computes in an ordinary member function.
//
//   class Linear : public Module {
//     Tensor weight, bias;
//     Linear(…) { add("weight", weight); add("bias", bias); }
//   };
//
// Names are those in a checkpoint: "encoder.layers.0.attention.query.weight".
//
// Layers compute in const functions, which any number of threads may call at once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/scope.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;  // members are registered by address
  Module& operator=(const Module&) = delete;

  // Every parameter with its full name, in the order they were added. A tied tensor appears once,
  // under its first name; an absent bias does not appear.
  std::vector<NamedParameter> parameters() const;
  int64_t parameter_count() const;  // elements of all parameters
  // By name, for checkpoints and taps. The full build defines these three: nn/module_names.cpp.
  // The parameter of this name. Throws Error, with similar names, if there is none.
  Tensor parameter(std::string_view name) const;
  // Copies values into the parameters of these names. Throws Error, and changes nothing, unless the
  // names are exactly those of parameters() and every shape fits.
  void load(const std::map<std::string, Tensor>& values);
  // The names of all parts of this module as in the names of their parameters,
  // "encoder.layers.0.attention"; "" for this module itself.
  std::unordered_map<const Module*, std::string> part_names() const;

 protected:
  // Registers a member, which must live as long as this module. An empty handle is no parameter.
  void add(std::string name, Tensor& parameter) {
    members_.push_back({std::move(name), &parameter, nullptr});
  }
  void add(std::string name, Module& child) {
    members_.push_back({std::move(name), nullptr, &child});
  }

 private:
  struct Member {
    std::string name;
    Tensor* parameter;
    Module* child;
  };
  void collect(const std::string& prefix, std::vector<NamedParameter>& into,
               std::unordered_set<const TensorBody*>& known) const;

  std::vector<Member> members_;
};

// Makes `module` the one that its thread computes, until the end of the block: the first line of
// every layer's function. Profiles measure the time of each module (core/observer.h). A module does
// not know its name; the model does (part_names()).
//
//   const ModuleScope here(*this);
class ModuleScope {
 public:
  explicit ModuleScope(const Module& module) : guard_(current_, &module) {}

  // Returns the innermost module, or null.
  static const Module* current() { return current_; }

 private:
  static inline constinit thread_local const Module* current_ = nullptr;
  ValueGuard<const Module*> guard_;
};

}  // namespace heed::inline HEED_REAL
