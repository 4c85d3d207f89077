// heed claims: measures the claims of the source documents, or the properties of a model.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unistd.h>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/table.h"
#include "apps/training/saved_run.h"
#include "core/text.h"
#include "lab/claims/model.h"
#include "lab/commands/room.h"

namespace heed {
namespace {

using claims::Claim;
using claims::Evidence;
using claims::Subject;
using claims::Topic;

// What the documents are, as in docs/sources.md, and what the numbers are.
constexpr const char* columns_heading =
    R"(  S0  Ji, Xie & Gao, A Mathematical View of Attention Models in Deep Learning
  S1  a notebook on basic, query-key-value and multi-head attention
  S2  a blog's notation for attention, multi-head and cross-attention
  S3  White, Deep Learning for Molecules and Materials, chapter 12, Attention Layers
  S4  Pitié, Deep Learning and its Applications, handout 10, Attention and Transformers

The first number is what was measured: what a claim has in parentheses at its end, or else
the largest difference between what it equates or tells apart (relative, where the bound is
5e-06 or 0.01). The second is the bound. Claims are measured on random weights and inputs, but
for those with a mark: = holds by construction, a shape, a count or a copy; * trains a model.

)";

struct EvidenceName {
  Evidence evidence;
  const char *name, *mark, *counted;
};
constexpr EvidenceName evidence_names[] = {
    {Evidence::trained, "trained", "*", "of trained models"},
    {Evidence::random, "random", " ", "on random numbers"},
    {Evidence::construction, "construction", "=", "by construction"}};

const EvidenceName& evidence_of(const Claim& t) {
  return *std::ranges::find(evidence_names, t.bound.evidence, &EvidenceName::evidence);
}

struct ClaimsArguments final : CommandArguments {
  std::vector<std::string> only;  // ids; empty: all
  int64_t seed = 1;
  std::string model;  // a config or a run; empty: the claims instead of a model's properties
  std::vector<std::string> set;
  bool json = false;

  std::vector<Option> options() override {
    return {{"--only", "ID[,ID]", &only,
             "Claims to measure, by their number in docs/sources.md (default: all)"},
            {"--seed", "SEED", &seed, "Seed of the random data (default: 1)", seed_range},
            {"--model", "RUN|CONFIG", &model,
             "Measure the properties of this model, trained (a run) or untrained (a config)"},
            set_option(set),
            json_option(json)};
  }
  int run() const override;
};

Subject subject_of_run(const std::string& path) {
  const SavedRun run = SavedRun::open(path);
  apply_settings(run.config.experiment);
  TrainedModel loaded(run, "", TrainedModel::Needs::vocabulary);
  const int64_t step = loaded.checkpoint.step();
  return {fmt::format("{}, step {}", loaded.path(), step), loaded.experiment().model,
          model_sizes(loaded.experiment(), loaded.corpus), std::move(loaded.model), step};
}

// Returns the model of a config, with the weights that training would start from.
Subject subject_of_config(const std::string& path, const std::vector<std::string>& assignments) {
  const LoadedConfig config = load_config(path, assignments);
  const Experiment& experiment = config.experiment;
  apply_settings(experiment);
  const Corpus corpus = load_data(config);
  ScopeGuard here;
  here->seed = static_cast<uint64_t>(experiment.seed);
  here->calls = 0;
  return with_origins(config.origins, [&] {
    return Subject{path + ", not trained", experiment.model, model_sizes(experiment, corpus),
                   make_model(experiment, corpus)};
  });
}

Subject subject_of(const ClaimsArguments& arguments) {
  const bool is_run = names_run(arguments.model);
  check_input(!is_run || arguments.set.empty(),
              "--set changes a config, but {} is a run: its model is already trained",
              arguments.model);
  return is_run ? subject_of_run(arguments.model)
                : subject_of_config(arguments.model, arguments.set);
}

// [{"id", "claim", "source", "measured", "threshold", "evidence", "pass"}, …]
std::string json_of(const std::vector<Topic>& topics) {
  Json list = Json::array();
  for (const Topic& topic : topics)
    for (const Claim& t : topic.claims)
      list.push(Json::object()
                    .set("id", t.id)
                    .set("claim", t.text)
                    .set("source", t.source)
                    .set("measured", t.measured)
                    .set("threshold", t.bound.value)
                    .set("evidence", evidence_of(t).name)
                    .set("pass", t.holds()));
  return list.text(2) + "\n";
}

std::string verdict(const Claim& t) {
  if (t.is_question) return t.holds() ? "yes" : "no";
  return t.holds() ? styled(Style::good, "PASS", STDOUT_FILENO)
                   : styled(Style::bad, "FAIL", STDOUT_FILENO);
}

// How many properties of a model hold.
std::string summary_of_model(const std::vector<Topic>& topics) {
  int64_t held = 0, promised = 0, yes = 0, questions = 0;
  for (const Topic& topic : topics)
    for (const Claim& t : topic.claims) {
      (t.is_question ? questions : promised) += 1;
      (t.is_question ? yes : held) += t.holds();
    }
  if (questions == 0) return fmt::format("{} of {} hold\n", held, promised);
  return fmt::format("{} of {} that its config promises hold; of {} others it has {}\n", held,
                     promised, questions, yes);
}

// How many claims hold, by what they rest on, and how many mistakes of the documents are confirmed
// by all of their rows.
std::string summary(const std::vector<Topic>& topics) {
  int64_t held = 0, count = 0;
  std::map<Evidence, int64_t> counts;
  std::set<std::string> misprints, doubtful;
  for (const Topic& topic : topics)
    for (const Claim& t : topic.claims) {
      if (t.is_misprint()) {
        misprints.insert(t.id);
        if (!t.holds()) doubtful.insert(t.id);
      } else {
        ++count;
        held += t.holds();
        ++counts[t.bound.evidence];
      }
    }
  std::string text;
  if (count > 0) text = fmt::format("{} of {} claims hold", held, count);
  for (const EvidenceName& each : evidence_names)
    if (const int64_t n = counts[each.evidence]; n > 0)
      text += fmt::format(", {} {}", n, each.counted);
  if (count > 0) text += "\n";
  if (!misprints.empty())
    text += fmt::format("{} of {} mistakes of the documents are confirmed\n",
                        misprints.size() - doubtful.size(), misprints.size());
  return text;
}

// What the numbers are, one table for each topic, and how many claims hold: at most 100 columns,
// for print_escaped().
std::string table_of(const std::vector<Topic>& topics, bool is_model) {
  constexpr size_t claim_width = 48, source_width = 16;
  std::string text = columns_heading;
  for (const Topic& topic : topics) {
    text += styled(Style::heading, topic.title, STDOUT_FILENO) + "\n";
    for (const Claim& t : topic.claims) {
      const std::vector<std::string> claim = lines_in(escaped(t.text), claim_width);
      text += fmt::format("  {:<3}{} {:<{}}  {:<{}}  {:>9.3g}  {} {:<6.3g}  {}\n", t.id,
                          evidence_of(t).mark, claim[0], claim_width, t.source, source_width,
                          t.measured, t.bound.is_lower ? "≥" : "≤", t.bound.value, verdict(t));
      for (size_t i = 1; i < claim.size(); ++i) text += fmt::format("         {}\n", claim[i]);
    }
    for (const claims::Note& note : topic.notes) text += "\n" + escaped(note.text());
    text += "\n";
  }
  return text + (is_model ? summary_of_model(topics) : summary(topics));
}

int ClaimsArguments::run() const {
  check_input(!model.empty() || set.empty(), "--set changes a config: name one with --model");
  std::vector<Topic> topics;
  if (model.empty()) {
    topics = claims::measured(claims::all_topics(), static_cast<uint64_t>(seed), only);
  } else {
    const Subject subject = subject_of(*this);
    const ScopeGuard here;
    here->step = static_cast<uint32_t>(subject.step);
    topics = claims::measured({properties_of(subject)}, static_cast<uint64_t>(seed), only);
  }
  json ? print(json_of(topics))
       : print_escaped(wrapped(table_of(topics, !model.empty()), terminal_width(STDOUT_FILENO)));
  return all_hold(topics) ? exit_done : exit_failed;
}

}  // namespace

const Command lab_commands::claims = {
    .name = "claims",
    .summary = "Measure the claims about attention, or the properties of one model",
    .details =
        "Examples:\n"
        "  heed claims\n"
        "  heed claims --only A16,A17 --seed 7 --json\n"
        "  heed claims --model configs/set.toml --set model.positional.kind=sinusoidal",
    .arguments = make_arguments<ClaimsArguments>,
};

}  // namespace heed
