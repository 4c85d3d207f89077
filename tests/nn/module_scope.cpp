// Every operation of a model belongs to one of its modules, and to none outside of it.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "core/joined.h"
#include "core/observer.h"
#include "core/ops.h"
#include "core/scope.h"
#include "nn/models.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {
namespace {

struct PartListener : Observer {
  struct Seen {
    std::string operation;
    const Module* part;
  };
  std::vector<Seen> seen;

  void op_finished(const char* name, const Tensor&, std::span<const Tensor>,
                   const Node*) noexcept override {
    seen.push_back({name, ModuleScope::current()});
  }
};

std::vector<std::string> operations_by_part(const Model& model, const Inputs& inputs) {
  PartListener listener;
  {
    const ObserverScope observation(listener);
    sum(model.logits(inputs));
  }
  CHECK(ModuleScope::current() == nullptr);
  CHECK(listener.seen.back().part == nullptr);  // the sum
  listener.seen.pop_back();
  const auto names = model.part_names();
  std::vector<std::string> all;
  for (const auto& seen : listener.seen) {
    const auto& operation = seen.operation;
    const auto& part = seen.part;
    REQUIRE_MESSAGE(part != nullptr, operation);
    REQUIRE_MESSAGE(names.contains(part), operation);
    all.push_back(names.at(part) + ": " + operation);
  }
  return all;
}

TEST_CASE("current module: the modules of a layer, in the order of computation") {
  ModelOptions options;
  options.kind = ModelKind::language_model;
  options.layers = 1;
  options.dim = 8;
  options.heads = 2;
  options.dropout = 0.5;
  options.positional.kind = &positional_encodings::learned;
  ScopeGuard here;
  here->training = true;
  const auto model = make_model(options, {.vocabulary = 5});
  const Inputs inputs{{}, {}, Ids::full({2, 3}, 1), Ids::full({2}, 3)};
  std::vector<std::string> parts;
  for (const std::string& each : operations_by_part(*model, inputs))
    if (const std::string part = each.substr(0, each.find(':'));
        parts.empty() || parts.back() != part)
      parts.push_back(part);
  CHECK(joined(parts) ==
        joined(std::vector<std::string>{
            "embedding.token", "embedding.position", "embedding", "decoder.layers.0.attention_norm",
            "decoder.layers.0.attention.query", "decoder.layers.0.attention.key",
            "decoder.layers.0.attention.value", "decoder.layers.0.attention",
            "decoder.layers.0.attention.output", "decoder.layers.0",
            "decoder.layers.0.feed_forward_norm", "decoder.layers.0.feed_forward.up",
            "decoder.layers.0.feed_forward", "decoder.layers.0.feed_forward.down",
            "decoder.layers.0", "decoder.norm", "head"}));
}

TEST_CASE("current module: every operation of every model belongs to one") {
  struct Case {
    ModelKind kind;
    const MixingRule* mixing;
    bool composed;
  };
  for (const Case& c : {Case{ModelKind::seq2seq, &mixings::attention, false},
                        Case{ModelKind::language_model, &mixings::attention, true},
                        Case{ModelKind::language_model, &mixings::convolution, false},
                        Case{ModelKind::classifier, &mixings::dense, true},
                        Case{ModelKind::classifier, &mixings::gru, false}}) {
    ModelOptions options;
    options.kind = c.kind;
    options.dim = 8;
    options.heads = 2;
    options.mixing.kind = c.mixing;
    if (c.kind == ModelKind::classifier && c.composed) options.pool = Pool::learned;
    if (c.composed) options.attention.normaliser = &normalisers::hardmax;
    const auto model = make_model(options, {.source_vocabulary = 5, .vocabulary = 5, .classes = 3});
    const Inputs inputs{Ids::full({2, 4}, 1), Ids::full({2}, 4), Ids::full({2, 3}, 1),
                        Ids::full({2}, 3)};
    std::set<std::string> parts;
    for (const std::string& each : operations_by_part(*model, inputs))
      parts.insert(each.substr(0, each.find(':')));
    CAPTURE(joined(parts));
    const std::string stack = c.kind == ModelKind::classifier ? "encoder" : "decoder";
    CHECK(parts.contains(stack + ".layers.1"));
    CHECK(parts.contains(stack + ".layers.1.feed_forward.up"));
    CHECK(parts.contains(stack + ".layers.1." + c.mixing->name));
    CHECK(parts.contains("head"));
    CHECK(parts.contains("pool.attention") == (options.pool == Pool::learned));
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
