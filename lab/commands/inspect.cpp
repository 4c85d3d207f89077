// heed inspect: what the parts of a trained model do.
#include <fmt/format.h>

#include <algorithm>

#include "apps/inference/positions.h"
#include "apps/inference/scores.h"
#include "apps/support/files.h"
#include "apps/support/terminal.h"
#include "apps/training/saved_run.h"
#include "core/joined.h"
#include "core/named.h"
#include "lab/commands/room.h"
#include "lab/inspect/ablate.h"
#include "lab/inspect/attribute.h"
#include "lab/inspect/heads.h"
#include "lab/inspect/lens.h"
#include "lab/inspect/trace.h"
#include "lab/report/inside_page.h"
#include "lab/report/page.h"

namespace heed {
namespace {

struct View;

struct InspectArguments final : CommandArguments {
  std::string path, view, checkpoint, split, with = "mean", token, against, output, positions;
  std::vector<std::string> parts;
  std::optional<int64_t> examples, example;
  bool json = false;

  std::vector<Option> options() override {
    return {
        {"RUN", "", &path, "Folder of the run"},
        {"[VIEW]", "", &view,
         "What to show: heads, ablate, lens, attribute or trace; without it --output writes a page "
         "of all but trace"},
        checkpoint_option(checkpoint),
        {"--split", "NAME", &split, "Split of the examples (default: test, else val)"},
        {"--examples",
         "COUNT",
         &examples,
         "Read this many examples, from the first on (default: 1000; 250 for the page, at each "
         "step)",
         {1, 1 << 24}},
        {"--example", "N", &example,
         "Example that lens, attribute, trace and the page show, counted from 0 (default: 0; on "
         "the "
         "page the one with the largest loss of those that the model gets right)",
         at_least(0)},
        {"--with", "mean|zero|resample", &with,
         "Replace an ablated part by its mean over the examples, by 0, or by its value for "
         "another example (default: mean)"},
        {"--parts", "PARTS", &parts,
         "Ablate these parts, such as A,B, at once instead of every part alone; names as in the "
         "table; may be repeated"},
        positions_option(positions),
        {"--token", "TOKEN", &token, "Attribute the logit of this token (default: the target)"},
        {"--against", "TOKEN", &against,
         "Subtract the logit of this token (default: the most likely other one)"},
        {"--output", "FILE", &output, "Write an HTML page instead of the table"},
        json_option(json)};
  }
  AblateWith replacement() const {
    for (const auto& each : ablate_with_names)
      if (with == each.name) return each.value;
    return AblateWith::mean;
  }
  int run() const override;
  void check(const View* chosen) const;  // null: all, as a page
  // How many examples are read: fewer for a page, which evaluates each head at many steps.
  int64_t count(const View* chosen) const {
    return examples.value_or(chosen ? 1000 : inside_examples);
  }
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

// A view: what it shows, and how.
struct View {
  struct Values {
    template <class Seen>
    Values(const Seen& seen) : json(seen.json()), table(seen.table()) {}
    Json json;
    Table table;
  };
  const char *name, *shows;
  Values (*values)(const Inspected&, const InspectArguments&);
  bool one_example = false;  // --example chooses it
};

constexpr View views[] = {
    {"heads", "What each head attends to, and whether it copies.",
     [](const Inspected& i, const InspectArguments&) -> View::Values { return head_scores(i); }},
    {"ablate", "How much worse the model is without each head, sublayer, layer and position.",
     [](const Inspected& i, const InspectArguments& a) -> View::Values {
       return ablate(i, a.replacement(), a.parts);
     }},
    {"lens", "What the model would predict if it ended after an earlier layer.",
     [](const Inspected& i, const InspectArguments& a) -> View::Values {
       return lens(i, a.example.value_or(0));
     },
     true},
    {"attribute", "Which parts write the difference between the logits of two tokens.",
     [](const Inspected& i, const InspectArguments& a) -> View::Values {
       return attribute(i, a.example.value_or(0), id_of("--token", a.token, i.corpus),
                        id_of("--against", a.against, i.corpus));
     },
     true},
    {"trace", "The stream of one example at every stage: its norm, active units and logits.",
     [](const Inspected& i, const InspectArguments& a) -> View::Values {
       return trace(i, a.example.value_or(0));
     },
     true}};

// Returns null for "": the page of all views.
const View* view_named(const std::string& name) {
  std::vector<std::string> names;
  for (const View& each : views) {
    if (name == each.name) return &each;
    names.emplace_back(each.name);
  }
  check_input(name.empty(), "inspect: there is no view {}; the views are {}", name, joined(names));
  return nullptr;
}

void InspectArguments::check(const View* chosen) const {
  check_input(
      chosen || !output.empty(),
      "inspect: name a VIEW (heads, ablate, lens, attribute or trace), or use --output FILE "
      "for a page of them");
  check_input(
      (view == "ablate" || parts.empty()) && (!chosen || view == "ablate" || with == "mean"),
      "--parts and --with go with the view ablate");
  check_input(view == "ablate" || positions.empty(), "--positions goes with the view ablate");
  check_input(!chosen || chosen->one_example || !example,
              "--example goes with the views lens, attribute and trace");
  check_input(view == "attribute" || (token.empty() && against.empty()),
              "--token and --against go with the view attribute");
  check_input(token.empty() || token != against,
              "--token {} and --against {}: expected two different tokens", token, against);
  const int64_t read = count(chosen);
  check_input(example.value_or(0) < read,
              "--example {}: only {} examples are read; raise --examples", example.value_or(0),
              read);
  check_input(!json || output.empty(), "--json and --output: choose one");
}

int InspectArguments::run() const {
  const View* const chosen = view_named(view);
  check(chosen);
  const std::string file = output.empty() ? "" : output_path(output, {".html", ".htm"});
  const SavedRun run = SavedRun::open(path);
  const Experiment& experiment = run.config.experiment;
  apply_settings(experiment);
  const TrainedModel loaded(run, checkpoint, TrainedModel::Needs::data);
  const TrainedModel::Here here(loaded);
  const Corpus& corpus = loaded.corpus;
  const std::string name = split_or_default(corpus, split);
  const Dataset first = first_of(split_of(corpus, name), count(chosen));
  check_input(example.value_or(0) < first.size,
              "--example {}: there are {} examples, counted from 0", example.value_or(0),
              first.size);
  const int64_t batch = experiment.train.evaluation_batch();
  check_input(with != "resample" || (first.size - 1) % batch != 0,
              "--with resample takes the value of the next example in a batch, but the last batch "
              "of these {} examples has only one; choose another number of --examples",
              first.size);
  if (!chosen) {
    write_file(file, page_file(inside_page(loaded, first, {name, example, replacement()})));
    print(fmt::format("{}\n", output));
    return exit_done;
  }
  std::optional<PositionRange> range;
  if (!positions.empty()) range = PositionRange::parse(positions);
  const Inspected inspected(*loaded.model, experiment.model, corpus,
                            range ? at_positions(first, *range) : first, batch);
  if (range) {
    int64_t targets = 0;
    for (const Batch& each : inspected.batches) targets += each.targets;
    check_any_target(targets, *range);
  }
  const View::Values values = chosen->values(inspected, *this);
  if (!file.empty()) {
    write_file(file, view_file(run.folder.path(), chosen->name, chosen->shows, values.table));
    print(fmt::format("{}\n", output));
  } else {
    print(json ? values.json.text() + "\n" : values.table.text());
  }
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
        "attribute   which parts write the difference between the logits of two tokens\n"
        "trace       the stream of one example: its norm, active units and logits at every "
        "stage\n\n"
        "Without VIEW, --output writes one page with a slider through the steps whose weights the "
        "run\n"
        "has (train.snapshots and train.keep_checkpoints), up to 22.\n\n"
        "Examples:\n"
        "  heed inspect runs/latest heads\n"
        "  heed inspect runs/latest ablate\n"
        "  heed inspect runs/latest -o inside.html\n"
        "  heed inspect runs/sort ablate --with zero --parts decoder.layers.0,decoder.layers.1\n"
        "  heed inspect runs/sort lens --example 3 -o lens.html\n"
        "  heed inspect runs/sort attribute --token 2 --against 1 --json",
    .arguments = make_arguments<InspectArguments>,
};

}  // namespace heed
