#include "apps/inference/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex.h>
#include <string_view>
#include <utility>

#include "apps/inference/predictions.h"
#include "apps/support/names.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {

constexpr const char *no_match = "no match", *position_word = "position";

constexpr double max_nodes = 10'000;

// Returns an upper bound for the nodes that regcomp makes of an expression: it copies what + and
// {n,m} repeat, without a limit.
double nodes_at_most(std::string_view expression) {
  double nodes = static_cast<double>(expression.size()), number = 0;
  bool repeats = false;  // between { and }
  for (const char c : expression) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '+') nodes *= 2;
    if (repeats && digit) number = 10 * number + (c - '0');
    if (repeats && !digit) nodes *= std::exchange(number, 0) + 1;
    repeats = c == '{' || (repeats && (digit || c == ','));
  }
  return nodes;
}

// std::regex overflows the stack for long texts.
struct Kinds::Expression {
  explicit Expression(const std::string& text) {
    check_input(
        nodes_at_most(text) <= max_nodes,
        "--by {}: the regular expression is too large, because each + and {{n}} copies what it "
        "repeats; use fewer of them",
        in_quotes(text));
    const int code = ::regcomp(&compiled, text.c_str(), REG_EXTENDED);
    if (code == 0) return;
    char problem[200];
    ::regerror(code, &compiled, problem, sizeof problem);
    throw InputError(fmt::format(
        "--by {}: expected length, position, the name of a group or a regular expression: {}",
        in_quotes(text), problem));
  }
  ~Expression() { ::regfree(&compiled); }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  std::optional<std::string> kind_of(const std::string& source) const {
    regmatch_t found[2];
    if (::regexec(&compiled, source.c_str(), 2, found, 0) != 0) return std::nullopt;
    const regmatch_t& part = found[compiled.re_nsub > 0 ? 1 : 0];
    if (part.rm_so < 0) return "";  // a group that took no part
    return source.substr(static_cast<size_t>(part.rm_so),
                         static_cast<size_t>(part.rm_eo - part.rm_so));
  }

  regex_t compiled;
};

Kinds::Kinds(const std::string& by) : by_(by) {
  check_input(!by.empty(),
              "--by: expected length, position, the name of a group or a regular expression");
  if (by != "length" && by != position_word) expression_ = std::make_unique<Expression>(by);
}

Kinds::~Kinds() = default;

const Score* Kinds::fraction(const std::string& by, const Experiment& experiment,
                             const Corpus& corpus) {
  if (corpus.format.numbers) return nullptr;
  return by != position_word && has_exact_match(experiment) ? &scores::exact_match
                                                            : &scores::token_accuracy;
}

std::vector<KindScores> Kinds::scores(const SplitScores& split, const Corpus& corpus,
                                      const Dataset& dataset) const {
  std::vector<KindScores> list;
  if (by_ == position_word) {
    for (const auto& [position, scores] : scores_by_position(split.targets)) list.push_back(scores);
    return list;
  }
  const std::string name = by_ == "group" ? "" : by_;
  for (const Groups& groups : corpus.groups)
    if (std::ranges::find(groups, name, &Groups::value_type::first) != groups.end())
      return scores_of_groups(split.outcomes, corpus, name);
  std::vector<std::string> sources;
  std::vector<int64_t> lengths;
  if (expression_)
    sources = source_texts(corpus, dataset);
  else
    lengths = source_lengths(corpus, dataset);
  std::map<std::string, KindScores, decltype(&comes_before)> by_kind(&comes_before);
  KindScores rest{no_match};
  for (size_t i = 0; i < split.outcomes.size(); ++i) {
    const Outcome& outcome = split.outcomes[i];
    const std::optional<std::string> kind =
        expression_ ? expression_->kind_of(sources.at(i)) : std::to_string(lengths.at(i));
    KindScores& scores = kind ? by_kind[*kind] : rest;
    if (kind) scores.kind = *kind;
    scores.add(outcome);
  }
  check_input(!by_kind.empty(), "--by {}: matches no source; the first is {}", in_quotes(by_),
              sources.empty() ? "missing" : in_quotes(sources[0]));
  for (const auto& [kind, scores] : by_kind) list.push_back(scores);
  if (rest.examples > 0) list.push_back(rest);
  return list;
}

}  // namespace heed
