// A named tree of parameters, and nothing else. A layer computes in an ordinary member function.
//
//   class Scaled : public Module {
//     Part<Linear> linear{this, "linear", 16, 16};
//     Part<Tensor> scale{this, "scale", constant_parameter({16}, 1)};
//   };
//
// Names are those in a checkpoint: "encoder.layers.0.attention.query.weight". A module that is no
// Part of another is the root of a tree.
//
// Layers compute in const functions, which any number of threads may call at once.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/scope.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

class Module {
 public:
  Module();
  virtual ~Module();
  Module(const Module&) = delete;  // parts are registered by address
  Module& operator=(const Module&) = delete;

  // Every parameter with its full name, in the order of construction. A tied tensor appears once,
  // under its first name; an absent bias does not appear. Throws Error if a module with a Part has
  // a member that is a module but no Part: it would not be trained.
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

 private:
  template <class T>
  friend class Part;
  struct Member {
    std::string name;
    Tensor parameter;
    const Module* child;
  };
  void add(std::string name, const Tensor& parameter);
  void add(std::string name, const Module& child);
  template <class T>
  void add(std::string name, const std::unique_ptr<T>& child) {
    if (child) add(std::move(name), *child);
  }
  void check_members() const;
  void collect(const std::string& prefix, std::vector<NamedParameter>& into,
               std::unordered_set<const TensorBody*>& known) const;

  std::vector<Member> members_;
  const void* end_ = this;  // of the object of a derived class, if it has a Part
};

// A member of a module that its construction registers, under a name in the module: a child, a
// parameter, or a pointer to a child, which may be null. It is used as a T. The arguments after the
// name are those of T's constructor. An empty tensor is no parameter.
//
//   Part<Linear> query{this, "query", 16, 16, LinearOptions{.bias = false}};
//   Part<std::unique_ptr<Mixing>> mixing{this, "mixing", std::make_unique<Gru>(16)};
template <class T>
class Part : public T {
 public:
  template <class Owner, class... Arguments>
  Part(Owner* owner, std::string name, Arguments&&... arguments)
      : T(std::forward<Arguments>(arguments)...) {
    Module& module = *owner;
    module.add(std::move(name), static_cast<const T&>(*this));
    module.end_ = std::max<const void*>(module.end_, owner + 1, std::less<>());
  }
  Part(const Part&) = default;
  Part(Part&&) = default;
  Part& operator=(const Part&) = delete;  // what is registered stays
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
