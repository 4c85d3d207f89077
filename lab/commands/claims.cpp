// heed claims: measures the claims of the source documents, or the properties of a model.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unistd.h>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"
#include "core/suggest.h"
#include "core/text.h"
#include "lab/claims/model.h"
#include "lab/commands/room.h"

namespace heed {
namespace {

using claims::MeasuredClaim;
using claims::Measurements;
using claims::Section;
using claims::Subject;

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
  LoadedRun loaded(run, "", LoadedRun::Needs::vocabulary);
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

// Throws InputError for a requested id that does not exist.
void check_ids(const std::vector<std::string>& requested, const std::vector<std::string>& ids) {
  for (const std::string& id : requested)
    if (std::ranges::find(ids, id) == ids.end())
      throw InputError(fmt::format("--only {}: there is no such row{}; the rows are {}",
                                   shortened(id), did_you_mean(id, ids), joined(ids)));
}

// [{"id", "claim", "source", "measured", "threshold", "by_construction", "pass"},
// …]
std::string json_of(const std::vector<Section>& sections) {
  Json list = Json::array();
  for (const Section& section : sections)
    for (const MeasuredClaim& t : section.claims)
      list.push(Json::object()
                    .set("id", t.id)
                    .set("claim", t.claim)
                    .set("source", t.source)
                    .set("measured", t.measured)
                    .set("threshold", t.bound.value)
                    .set("by_construction", t.bound.by_construction)
                    .set("pass", t.holds()));
  return list.text(2) + "\n";
}

std::string verdict(const MeasuredClaim& t) {
  if (t.is_question) return t.holds() ? "yes" : "no";
  return t.holds() ? styled(Style::good, "PASS", STDOUT_FILENO)
                   : styled(Style::bad, "FAIL", STDOUT_FILENO);
}

// Breaks a text at spaces into lines of at most `width` characters. A longer word has its own line.
std::vector<std::string> broken_lines(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word(text.substr(at, end - at));
    if (lines.back().empty())
      lines.back() = word;
    else if (character_count(lines.back()) + 1 + character_count(word) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
    at = end + 1;
  }
  return lines;
}

// How many properties of a model hold.
std::string summary_of_model(const std::vector<Section>& sections) {
  int64_t held = 0, promised = 0, yes = 0, questions = 0;
  for (const Section& section : sections)
    for (const MeasuredClaim& t : section.claims) {
      (t.is_question ? questions : promised) += 1;
      (t.is_question ? yes : held) += t.holds();
    }
  if (questions == 0) return fmt::format("{} of {} hold\n", held, promised);
  return fmt::format("{} of {} that its config promises hold; of {} others it has {}\n", held,
                     promised, questions, yes);
}

// How many claims hold, and how many mistakes of the documents are confirmed by all of their rows.
std::string summary(const std::vector<Section>& sections) {
  int64_t held = 0, count = 0, by_construction = 0;
  std::map<std::string, bool> misprints;
  for (const Section& section : sections)
    for (const MeasuredClaim& t : section.claims) {
      if (t.is_misprint()) {
        const auto at = misprints.emplace(t.id, true).first;
        at->second = at->second && t.holds();
      } else {
        ++count;
        held += t.holds();
        by_construction += t.bound.by_construction;
      }
    }
  std::string text;
  if (count > 0) text = fmt::format("{} of {} claims hold", held, count);
  if (by_construction > 0) text += fmt::format(", {} of them by construction", by_construction);
  if (count > 0) text += "\n";
  if (!misprints.empty())
    text += fmt::format(
        "{} of {} mistakes of the documents are confirmed\n",
        std::ranges::count(misprints, true, &std::pair<const std::string, bool>::second),
        misprints.size());
  return text;
}

// What S0 to S4 are, one table for each section, and how many claims hold: at most 100 columns,
// for print_escaped().
std::string table_of(const std::vector<Section>& sections, bool is_model) {
  constexpr size_t claim_width = 48, source_width = 16;
  std::string text;
  for (const claims::Document& document : claims::documents)
    text += fmt::format("  {}  {}\n", document.id, document.title);
  text +=
      "\nThe first number is what was measured: what a claim has in parentheses at its end, or "
      "else\n"
      "the largest difference between what it equates or tells apart (relative, where the bound "
      "is\n"
      "5e-06 or 0.01). The second is the bound. = holds by construction: a shape, a count or a "
      "copy.\n"
      "\n";
  for (const Section& section : sections) {
    text += styled(Style::heading, section.title, STDOUT_FILENO) + "\n";
    for (const MeasuredClaim& t : section.claims) {
      const std::vector<std::string> claim = broken_lines(escaped(t.claim), claim_width);
      text += fmt::format("  {:<3}{} {:<{}}  {:<{}}  {:>9.3g}  {} {:<6.3g}  {}\n", t.id,
                          t.bound.by_construction ? '=' : ' ', claim[0], claim_width, t.source,
                          source_width, t.measured, t.bound.is_lower ? "≥" : "≤", t.bound.value,
                          verdict(t));
      for (size_t i = 1; i < claim.size(); ++i) text += fmt::format("         {}\n", claim[i]);
    }
    for (const std::string& note : section.notes) text += "\n" + escaped(note);
    text += "\n";
  }
  return text + (is_model ? summary_of_model(sections) : summary(sections));
}

int ClaimsArguments::run() const {
  check_input(!model.empty() || set.empty(), "--set changes a config: name one with --model");
  Measurements measurements(static_cast<uint64_t>(seed), only);
  if (model.empty()) {
    measure_all(measurements);
  } else {
    const Subject subject = subject_of(*this);
    const ScopeGuard here;
    here->step = static_cast<uint32_t>(subject.step);
    measure_model(measurements, subject);
  }
  check_ids(only, measurements.ids());
  const std::vector<Section> sections = measurements.sections();
  json ? print(json_of(sections))
       : print_escaped(wrapped(table_of(sections, !model.empty()), terminal_width(STDOUT_FILENO)));
  return all_hold(sections) ? exit_done : exit_failed;
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
    .other_name = "theorems",
};

}  // namespace heed
