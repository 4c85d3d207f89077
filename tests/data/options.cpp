// Invalid options, and models that a kind of data cannot train.
#include "out_of_range.h"
#include "support.h"

namespace heed {

static std::string refusal(const DataOptions& options, ModelKind framing) {
  return input_error([&] { load_corpus(options, framing, 1); });
}

TEST_CASE("every value out of its range is rejected") {
  testing::check_ranges(DataOptions(),
                        [](const DataOptions& o) { load_corpus(o, ModelKind::seq2seq, 1); });
}

TEST_CASE("the error for a model that the data cannot train lists the valid ones") {
  DataOptions options;
  const std::string message = refusal(options, ModelKind::classifier);
  CHECK_CONTAINS(message, "`kind` = \"reverse\" cannot train `framing` = \"classifier\"");
  CHECK_CONTAINS(message, "it trains: language_model, seq2seq");
  CHECK_CONTAINS(message, "modular, parity, shapes, video, graph, set, subject, labelled");
  for (const DataKind* kind : {&data_kinds::text, &data_kinds::lines, &data_kinds::labelled}) {
    options.kind = kind;
    CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "cannot train `framing` = \"seq2seq\"");
  }
  options.kind = &data_kinds::pairs;
  CHECK_CONTAINS(refusal(options, ModelKind::classifier), "it trains: seq2seq, language_model");
}

TEST_CASE("the error for a key that the kind does not use lists those that it uses") {
  DataOptions options;
  options.digits = 3;
  const std::string message = refusal(options, ModelKind::seq2seq);
  CHECK_CONTAINS(message, "`digits` is not used by `kind` = \"reverse\"");
  CHECK_CONTAINS(message, "symbols");
  options = {};
  options.kind = &data_kinds::text;
  options.path = "x";
  options.lengths = {1, 2};
  CHECK_CONTAINS(refusal(options, ModelKind::language_model), "`lengths` is not used");
}

TEST_CASE("contradictory keys are rejected") {
  DataOptions options;
  options.lengths = {3, 2};
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "`lengths` = [3, 2] must be two lengths");
  options.lengths = {3};
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "`lengths` = [3] must be two lengths");
  options.lengths = {1, 25};
  options.longer_lengths = {20, 30};
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "must start above the longest");
  options = {};
  options.val_fraction = options.test_fraction = 0.5;
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "leave less than a tenth for training");
  options.val_fraction = 0.4;
  check_options(options, ModelKind::seq2seq);  // at most 0.9
  options = {};
  options.kind = &data_kinds::modular;
  options.operation = Operation::divide;
  options.modulus = 91;
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "`modulus` = 91 must be a prime");

  options = {};
  options.kind = &data_kinds::text;
  CHECK_CONTAINS(refusal(options, ModelKind::language_model), "needs `path`");
  options.path = "a";
  options.paths = {"b"};
  CHECK_CONTAINS(refusal(options, ModelKind::language_model), "exclude each other");
  options.paths.clear();
  options.level = Level::byte;
  options.min_count = 2;
  CHECK_CONTAINS(refusal(options, ModelKind::language_model),
                 "all 256 bytes are in the vocabulary");
  options = {};
  options.kind = &data_kinds::pairs;
  options.path = "a";
  options.target_path = "b";
  options.val_path = "c";
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "`val_path` and `val_target_path`");
  options.val_path.clear();
  options.test_target_path = "c";
  CHECK_CONTAINS(refusal(options, ModelKind::seq2seq), "`test_target_path` needs `test_path`");
}

TEST_CASE("the description has the keys that the kind uses, without paths") {
  DataOptions options;
  options.kind = &data_kinds::text;
  options.path = "somewhere";
  const std::string text = describe(options);
  CHECK_CONTAINS(text, "context = 64\n");
  CHECK(text.find("somewhere") == std::string::npos);
  CHECK(text.find("symbols") == std::string::npos);
}

}  // namespace heed
