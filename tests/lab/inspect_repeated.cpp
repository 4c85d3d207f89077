// The repeated tokens of heed inspect have the form of the run's own examples, for every kind of
// data.
#include <doctest/doctest.h>

#include <set>

#include "apps/config/experiment.h"
#include "apps/inference/attended_example.h"
#include "apps/inference/predictions.h"
#include "apps/support/files.h"
#include "checks.h"
#include "data/first_examples.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/induction.h"
#include "temporary_folder.h"

using namespace heed;

namespace {

// Which inputs are special tokens, and which targets are ignored or special: -2 is any other token.
struct Form {
  std::vector<int32_t> input, target;

  Form(std::span<const int32_t> input_, std::span<const int32_t> target_,
       const Vocabulary& tokens) {
    for (const int32_t id : input_) input.push_back(is_special(tokens.token(id)) ? id : -2);
    for (const int32_t id : target_)
      target.push_back(id == ignored || is_special(tokens.token(id)) ? id : -2);
  }
  // Returns whether it is the beginning of another one. Only the last target may differ: it may be
  // <eos>, or the first one after a prompt.
  bool begins(const Form& other) const {
    const auto fits = [](const auto& a, const auto& b, size_t count) {
      return b.size() >= a.size() && std::equal(a.begin(), a.begin() + count, b.begin());
    };
    return fits(input, other.input, input.size()) && fits(target, other.target, target.size() - 1);
  }
  bool operator==(const Form&) const = default;
};

struct Language {
  Experiment experiment;
  Corpus corpus;
  std::unique_ptr<Model> model;
  std::unique_ptr<Inspected> inspected;

  explicit Language(const DataOptions& data, int64_t examples = 1000) {
    experiment.data = data;
    ModelOptions& o = experiment.model;
    o.kind = ModelKind::language_model;
    o.dim = 8;
    o.heads = o.layers = 1;
    corpus = load_corpus(data, ModelKind::language_model, 1);
    model = make_model(o, model_sizes(experiment, corpus));
    inspected = std::make_unique<Inspected>(*model, o, corpus,
                                            first_of(corpus.splits.at("train"), examples), 64);
  }
};

// Checks the first sequence of every period. `same`: an example of the run has exactly its form,
// else it is the beginning of one.
void check_form(const Language& language, const std::vector<int64_t>& periods, bool same) {
  const RepeatedTokens repeated(*language.inspected);
  CHECK(repeated.periods() == periods);
  const Vocabulary& tokens = language.corpus.target->vocabulary();
  const Dataset& train = language.corpus.splits.at("train");
  for (const int64_t n : periods) {
    CAPTURE(n);
    Random random(0, Purpose::task);
    const Batch batch = repeated.batch(n, 3, random);
    const int64_t time = batch.input.dim(1);
    const std::span<const int32_t> input(batch.input.data(), static_cast<size_t>(time));
    const std::span<const int32_t> target(batch.target.data(), static_cast<size_t>(time));
    CHECK(batch.input_lengths[0] == time);
    const Form form(input, target, tokens);
    bool found = false;
    for (int64_t i = 0; i < std::min<int64_t>(train.size, 1000) && !found; ++i) {
      Example example;
      train.get(i, example);
      const Form own(example.input, example.target, tokens);
      found = same ? own == form : form.begins(own);
    }
    CHECK(found);
    const int64_t first = repeated.first(n), back = repeated.distance(n);
    std::set<int32_t> once;
    for (int64_t q = first; q < std::min(first + n, time); ++q) {
      CHECK(batch.input[q] == batch.input[q - back]);
      once.insert(batch.input[q]);
    }
    CHECK(std::ssize(once) == std::min(n, time - first));
  }
}

DataOptions task(const DataKind& kind, std::vector<int64_t> lengths = {}) {
  DataOptions options;
  options.kind = &kind;
  if (!lengths.empty()) options.lengths = std::move(lengths);
  if (kind.uses("symbols")) options.symbols = 12;
  return options;
}

}  // namespace

TEST_CASE("inspect repeated: lines begin with <bos>, a text does not") {
  const TemporaryFolder folder;
  std::string lines;
  for (size_t length = 1; length <= 16; ++length)
    lines += std::string("abcdefghijklmnop").substr(16 - length) + "\n";
  write_file(folder / "lines", lines);
  DataOptions options;
  options.path = folder / "lines";
  options.val_fraction = options.test_fraction = 0;
  options.kind = &data_kinds::lines;
  const Language of_lines(options);
  CHECK(of_lines.corpus.longest_input == 17);
  check_form(of_lines, {8, 6, 5}, /*same=*/true);
  DataOptions text;
  text.path = options.path;
  text.kind = &data_kinds::text;
  text.context = 13;
  check_form(Language(text), {6, 5, 4}, /*same=*/false);
}

TEST_CASE("inspect repeated: the halves are source and target where a task has such examples") {
  for (const DataKind* kind : {&data_kinds::copy, &data_kinds::reverse, &data_kinds::sort}) {
    CAPTURE(kind->name);
    check_form(Language(task(*kind, {1, 9})), {9, 7, 5}, true);
    check_form(Language(task(*kind, {8, 9})), {9, 8}, true);
    check_form(Language(task(*kind, {7, 7})), {7}, true);  // no <sep>
    CHECK(RepeatedTokens(*Language(task(*kind, {1, 9})).inspected).has_targets());
  }
  // The longest examples of another split do not count.
  DataOptions longer = task(data_kinds::copy, {1, 6});
  longer.longer_lengths = {10, 12};
  check_form(Language(longer), {6, 5, 4}, true);
}

TEST_CASE(
    "inspect repeated: the tokens are repeated in the source of other tasks, without a loss") {
  check_form(Language(task(data_kinds::parity, {3, 8})), {2}, true);
  check_form(Language(task(data_kinds::modular)), {2}, true);
  check_form(Language(task(data_kinds::addition)), {2}, false);
  check_form(Language(task(data_kinds::recall, {2, 5})), {5, 4, 3}, false);
  const Language recall(task(data_kinds::recall, {2, 5}));
  CHECK(!RepeatedTokens(*recall.inspected).has_targets());
  const Json scores = head_scores(*recall.inspected).json();
  CHECK(scores.at("induction_loss").is_null());
  CHECK(scores.at("induction_loss_by_period").is_null());
  CHECK(scores.at("heads").elements()[0].at("prefix_matching").number() > 0);
}

TEST_CASE("inspect repeated: the table says which periods there are, and whether there is room") {
  const auto table = [](const std::vector<int64_t>& lengths) {
    return head_scores(*Language(task(data_kinds::copy, lengths)).inspected).table().text();
  };
  CHECK_CONTAINS(table({1, 9}), "Repeated random tokens: periods 9, 7, 5\n");
  CHECK_CONTAINS(table({1, 3}),
                 "Repeated random tokens: periods 3, 2; the examples have no room for three\n");
  CHECK_CONTAINS(table({7, 7}),
                 "Repeated random tokens: period 7; the examples have no room for three\n");
  CHECK_CONTAINS(table({1, 1}), "Repeated random tokens: the examples have no room for them\n");
}

TEST_CASE("inspect: a typed text is laid out as an example of the run, for every task") {
  int checked = 0;
  for (const DataKind* kind : data_kinds::all)
    for (const ModelKind framing : kind->framings)
      for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{3, 8}, {4, 4}}) {
        if (!kind->is_task() || framing == ModelKind::classifier) continue;
        CAPTURE(kind->name);
        Experiment experiment;
        experiment.data.kind = kind;
        if (kind->uses("lengths")) experiment.data.lengths = lengths;
        experiment.data.val_fraction = experiment.data.test_fraction = 0;
        ModelOptions& o = experiment.model;
        o.dim = 8;
        o.heads = o.layers = 1;
        o.kind = framing == ModelKind::seq2seq ? ModelKind::seq2seq : ModelKind::language_model;
        const Corpus corpus = load_corpus(experiment.data, framing, 1);
        if (corpus.format.features > 0) continue;
        const auto model = make_model(o, model_sizes(experiment, corpus));
        Batch own;
        Batches::in_order(corpus.splits.at("train"), framing, 1).get(0, own);
        Example example;
        corpus.splits.at("train").get(0, example);
        ExampleRequest request;
        std::vector<int32_t> target;
        for (const int32_t id : example.target)
          if (id != ignored) target.push_back(id);
        request.target = corpus.target->decode(target);
        request.text = source_texts(corpus, first_of(corpus.splits.at("train"), 1)).front();
        const Inputs inputs = attended_example(request, experiment, corpus, *model).inputs;
        const auto check_same = [](const Ids& a, const Ids& b) {
          REQUIRE(a.size() == b.size());
          CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
        };
        check_same(inputs.input, own.input);
        check_same(inputs.input_lengths, own.input_lengths);
        if (framing == ModelKind::seq2seq) check_same(inputs.source, own.source);
        ++checked;
      }
  CHECK(checked == 2 * (6 * 2 + 1));
}
