// heed inspect: what the parts of a trained model do.
#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/scores.h"
#include "apps/support/output.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"
#include "core/named.h"
#include "lab/commands/room.h"
#include "lab/inspect/ablate.h"
#include "lab/inspect/attribute.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"

namespace heed {
namespace {

struct InspectArguments final : CommandArguments {
  std::string path, view, checkpoint, split, with = "mean", token, against;
  std::vector<std::string> set;
  int64_t examples = 1000, example = 0;
  bool json = false;

  std::vector<Option> options() override {
    return {
        {"RUN", "", &path, "Folder of the run"},
        {"VIEW", "", &view, "What to show: heads, ablate, lens or attribute"},
        checkpoint_option(checkpoint),
        {"--split", "NAME", &split, "Split of the examples (default: test, else val)"},
        {"--examples",
         "COUNT",
         &examples,
         "Read this many examples, from the first on (default: 1000)",
         {1, 1 << 24}},
        {"--example", "N", &example,
         "Example that lens and attribute show, counted from 0 (default: 0)", at_least(0)},
        {"--with", "mean|zero|resample", &with,
         "Replace an ablated part by its mean over the examples, by 0, or by its value for "
         "another example (default: mean)"},
        {"--set", "PARTS", &set,
         "Ablate these parts, such as A,B, at once instead of every part alone; names as in the "
         "table; may be repeated"},
        {"--token", "TOKEN", &token, "Attribute the logit of this token (default: the target)"},
        {"--against", "TOKEN", &against,
         "Subtract the logit of this token (default: the most likely other one)"},
        json_option(json)};
  }
  int run() const override;
};

// Returns the id of a token or label of the output; none for "".
std::optional<int64_t> id_of(const char* option, const std::string& text, const Corpus& corpus) {
  if (text.empty()) return {};
  if (!corpus.labels.empty()) {
    const auto label = std::find(corpus.labels.begin(), corpus.labels.end(), text);
    check_input(label != corpus.labels.end(), "{}: there is no label {}; the labels are {}", option,
                text, joined(corpus.labels));
    return label - corpus.labels.begin();
  }
  check_input(corpus.target != nullptr, "{}: the outputs of this model have no names", option);
  const int32_t id = corpus.target->vocabulary().find(text);
  check_input(id != Vocabulary::none, "{}: the vocabulary has no token {}", option, text);
  return id;
}

int InspectArguments::run() const {
  check_input(view == "heads" || view == "ablate" || view == "lens" || view == "attribute",
              "inspect: there is no view {}; the views are heads, ablate, lens and attribute",
              view);
  check_input(view == "ablate" || (set.empty() && with == "mean"),
              "--set and --with go with the view ablate");
  check_input(view == "lens" || view == "attribute" || example == 0,
              "--example goes with the views lens and attribute");
  check_input(view == "attribute" || (token.empty() && against.empty()),
              "--token and --against go with the view attribute");
  check_input(token.empty() || token != against,
              "--token {} and --against {}: expected two different tokens", token, against);
  check_input(example < examples, "--example {}: only {} examples are read; raise --examples",
              example, examples);
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const Checkpoint loaded = run.checkpoint(checkpoint);
  const Corpus corpus = run.data(loaded);
  const std::unique_ptr<Model> model = run.model(corpus, loaded);
  const Dataset first = first_of(split_of(corpus, split_or_default(corpus, split)), examples);
  check_input(example < first.size, "--example {}: there are {} examples, counted from 0", example,
              first.size);
  check_input(with != "resample" || (first.size - 1) % experiment.train.batch_size != 0,
              "--with resample takes the value of the next example in a batch, but the last batch "
              "of these {} examples has only one; choose another number of --examples",
              first.size);
  const Inspected inspected(*model, experiment.model, corpus, first, experiment.train.batch_size);

  Json result;
  Table table;
  if (view == "ablate") {
    AblateWith replacement = AblateWith::mean;
    for (const auto& each : ablate_with_names)
      if (with == each.name) replacement = each.value;
    result = ablate(inspected, replacement, set);
    table = ablation_table(result);
  } else if (view == "heads") {
    result = head_scores(inspected);
    table = heads_table(result);
  } else if (view == "lens") {
    result = lens(inspected, example);
    table = lens_table(result);
  } else {
    result = attribute(inspected, example, id_of("--token", token, corpus),
                       id_of("--against", against, corpus));
    table = attribution_table(result);
  }
  if (json)
    print(fmt::format("{}\n", result.text()));
  else
    print(table.text());
  return exit_done;
}

}  // namespace

const Command lab_commands::inspect = {
    .name = "inspect",
    .summary = "Show what the parts of a trained model do",
    .details =
        "heads       what each head attends to, and whether it copies\n"
        "ablate      how much worse the model is without each head, sublayer, layer and position\n"
        "lens        what the model would predict if it ended after an earlier layer\n"
        "attribute   which parts write the difference between the logits of two tokens\n\n"
        "Examples:\n"
        "  heed inspect runs/latest heads\n"
        "  heed inspect runs/latest ablate\n"
        "  heed inspect runs/sort ablate --with zero --set decoder.layers.0,decoder.layers.1\n"
        "  heed inspect runs/sort lens --example 3\n"
        "  heed inspect runs/sort attribute --token 2 --against 1 --json",
    .arguments = make_arguments<InspectArguments>,
};

}  // namespace heed
