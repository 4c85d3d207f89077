#include "lab/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "apps/config/load_config.h"
#include "apps/inference/scores.h"
#include "apps/support/log.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "core/text.h"
#include "lab/experiments/curves.h"
#include "lab/experiments/score_kinds.h"
#include "lab/report/words.h"

namespace heed {
namespace {

constexpr size_t max_listed_errors = 12, max_confused_labels = 40;
constexpr size_t facts_of_column = 6;

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// --- What the run is.

using Facts = std::vector<std::array<std::string, 3>>;  // name, value, default or ""

std::string facts_column(const std::string& heading, const std::string& note, const Facts& facts,
                         bool keys) {
  std::string rows;
  for (const auto& [name, value, standard] : facts)
    rows += fmt::format("<dt>{}</dt><dd>{}{}</dd>", html(name), html(value),
                        standard.empty() ? "" : fmt::format(" <i>({})</i>", html(standard)));
  return fmt::format("<div{}><h3>{} <span class=\"q\">{}</span></h3><dl>{}</dl></div>\n",
                     keys ? " class=\"set\"" : "", heading, note, rows);
}

// The keys that say what the model is, and then the changed ones of each group, as many as fit.
Facts keys_of(const Experiment& experiment, const std::vector<std::string>& always,
              const std::vector<std::string>& groups) {
  const ConfigListing all = list_config(experiment), standard = list_config(Experiment());
  Facts facts;
  const auto add = [&](const std::string& key) {
    const std::string value = value_of(all, key), usual = value_of(standard, key);
    facts.push_back({key, shortened(value, 24), value == usual ? "" : shortened(usual, 16)});
  };
  for (const std::string& key : always) add(key);
  const std::vector<ConfigDifference> differences = config_differences(all, standard);
  for (const std::string& group : groups)
    for (const ConfigDifference& changed : differences)
      if (changed.key.starts_with(group) && !std::ranges::count(always, changed.key) &&
          facts.size() < facts_of_column)
        add(changed.key);
  return facts;
}

std::string task_column(const ReportedRun& run, const Details& details) {
  const Prediction* shortest = nullptr;
  for (const SampledSplit& split : details.samples)
    for (const Prediction& sample : split.shown())
      if (!sample.expected.empty() && (!shortest || sample.source.size() < shortest->source.size()))
        shortest = &sample;
  std::string text;
  if (shortest)
    text = fmt::format("<p class=\"m\">{}</p>",
                       html(shortened(shortest->source + " → " + shortest->expected, 60)));
  for (const std::string& line : details.data)
    text += fmt::format("<p class=\"q\">{}</p>", html(line));
  if (text.empty())
    text = fmt::format("<p class=\"q\">seed {}</p>", run.saved.config.experiment.seed);
  return fmt::format("<div><h3>Task <span class=\"q\">{}</span></h3>{}</div>\n",
                     html(run.saved.config.experiment.data.kind->name), text);
}

std::string what_it_is(const ReportedRun& run, const Details& details) {
  const Experiment& experiment = run.saved.config.experiment;
  const auto parameters = run.result.find_number("parameters"),
             rate = run.result.find_number("tokens_per_s");
  Facts machine;
  for (const auto& [label, value] : run.session) machine.push_back({label, value, ""});
  if (rate) machine.push_back({"rate", thin_grouped(*rate) + " tokens/s", ""});
  machine.push_back({"precision", name_of(precision_names, experiment.precision), ""});
  return "<div id=\"is\">\n" + task_column(run, details) +
         facts_column(
             "Model", parameters ? thin_grouped(*parameters) + " parameters" : "",
             keys_of(experiment, {"model.kind", "model.layers", "model.dim", "model.heads"},
                     {"model."}),
             true) +
         facts_column("Training", "changed (default)",
                      keys_of(experiment, {}, {"optim.", "schedule.", "train."}), true) +
         facts_column("Machine", "", machine, false) + "</div>\n";
}

// --- Samples.

// Words with the spaces after them, or characters.
std::vector<std::string> units_of(std::string_view text, bool words) {
  std::vector<std::string> units;
  while (!text.empty()) {
    size_t length = std::max<size_t>(1, utf8_length(text));
    if (words) length = std::min(text.find_first_not_of(' ', text.find(' ')), text.size());
    units.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return units;
}

// An output: its first wrong word or character struck out, what should stand there behind it.
std::string marked_output(const Prediction& sample) {
  const std::string &a = sample.predicted, &b = sample.expected;
  const bool words = a.find(' ') != a.npos || b.find(' ') != b.npos;
  const std::vector<std::string> x = units_of(a, words), y = units_of(b, words);
  const auto bare = [](std::string unit) {
    if (const size_t end = unit.find_last_not_of(' '); end != unit.npos) unit.resize(end + 1);
    return unit;
  };
  std::string text, rest;
  size_t i = 0;
  while (i < x.size() && i < y.size() && bare(x[i]) == bare(y[i])) text += html(x[i++]);
  if (i == x.size() && i == y.size()) return text;
  if (words && i > 0 && i == x.size()) text += ' ';  // the output ends too early
  if (i < x.size()) text += fmt::format("<s class=\"w\">{}</s> ", html(bare(x[i])));
  text += fmt::format("<ins class=\"t\">{}</ins> ", i < y.size() ? html(bare(y[i])) : "end");
  for (size_t j = i + 1; j < x.size(); ++j) rest += html(x[j]);
  return text + fmt::format("<span class=\"q\">{}</span>", rest);
}

// "5th" of 4.7.
std::string ordinal(double number) {
  const auto n = static_cast<int64_t>(std::lround(number));
  const int64_t last = n % 100 / 10 == 1 ? 0 : n % 10;
  return std::to_string(n) + (last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string rows_of_split(const SampledSplit& split) {
  std::string rows = fmt::format(
      "<tr class=\"group\"><td colspan=\"3\">{}: {}{}</td></tr>\n", html(split_words(split.split)),
      split.wrong < 0
          ? "not compared with anything"
          : fmt::format("{} of {} {} wrong", thin_grouped(static_cast<double>(split.wrong)),
                        thin_grouped(static_cast<double>(split.examples)),
                        split.wrong == 1 ? "is" : "are"),
      split.wrong > 0 && split.first_error > 0
          ? fmt::format(". The first wrong token is {}the {}",
                        split.wrong == 1 ? "" : "on average ", ordinal(split.first_error))
          : "");
  for (const Prediction& sample : split.shown()) {
    const bool right = sample.predicted == sample.expected;
    rows += fmt::format("<tr><td class=\"{}\">{}</td><td>{}</td><td>{}</td></tr>\n",
                        right ? "ok" : "no", right ? "✓" : "✗", html(shortened(sample.source, 200)),
                        marked_output(sample));
  }
  return rows;
}

Section samples_section(const Details& details) {
  std::string rows, texts;
  for (const SampledSplit& split : details.samples) {
    if (split.samples.empty()) continue;
    if (!split.samples[0].expected.empty())
      rows += rows_of_split(split);
    else
      for (const Prediction& sample : split.samples)
        texts += "<pre>" + html(sample.predicted) + "</pre>\n";
  }
  const bool by_length = !details.lengths.is_null();
  std::string content;
  if (!rows.empty())
    content =
        "<table class=\"out\">\n<thead><tr><th></th><th>input</th><th>output</th></tr></thead>\n" +
        rows + "</table>\n";
  content += texts;
  if (!content.empty()) content = html_drawing("samples", "") + content;
  if (content.empty()) return {"samples", "Samples", "", ""};
  if (by_length) {
    Cells heads = {"length", "exactly right"};
    std::vector<Cells> table;
    for (const Json& row : details.lengths.at("rows").elements())
      table.push_back({std::to_string(row.at("length").integer()),
                       fmt::format("{} of {}", row.at("right").integer(), row.at("of").integer())});
    content = fmt::format("<div class=\"two\"><div>\n{}</div>\n<div>{}</div></div>\n", content,
                          html_drawing("lengths", html_table(heads, table, 0)));
  }
  const std::string note =
      rows.empty() ? "generated without a prompt"
                   : fmt::format(
                         "greedy, at step {}; wrong ones first. <s class=\"w\">12</s> <ins "
                         "class=\"t\">21</ins> the first wrong token and what should stand there",
                         thin_grouped(static_cast<double>(details.step)));
  return {"samples", "Samples", note, content};
}

// --- Errors.

Section errors_section(const Details& details) {
  if (!details.confusion) return {"errors", "Errors", "", ""};
  const Confusion& confusion = *details.confusion;
  std::vector<Cells> rows;
  for (const auto& [expected, predicted, count] : confusion.counts) {
    if (expected == predicted || rows.size() == max_listed_errors) break;
    rows.push_back({confusion.labels[expected], confusion.labels[predicted],
                    thin_grouped(static_cast<double>(count))});
  }
  const std::string table = rows.empty()
                                ? "<p>Every target is predicted.</p>\n"
                                : "<h3>Most frequent errors</h3>\n" +
                                      html_table({"expected", "predicted", "times"}, rows, 2);
  const bool drawn = confusion.labels.size() > 1 && confusion.labels.size() <= max_confused_labels;
  return {"errors", "Errors", fmt::format("targets of the split {}", html(details.split)),
          drawn ? fmt::format("<div class=\"pair\"><div>{}</div>\n<div>{}</div></div>\n", table,
                              html_drawing("confusion", ""))
                : table};
}

// --- Where the time goes.

enum class TimeKind { products, attention, norms, loss, optimizer, rest };
constexpr Named<TimeKind> kinds[] = {{"matrix products", TimeKind::products},
                                     {"attention", TimeKind::attention},
                                     {"norms, sums, activations", TimeKind::norms},
                                     {"loss", TimeKind::loss},
                                     {"optimizer", TimeKind::optimizer},
                                     {"rest", TimeKind::rest}};

TimeKind time_kind(const std::string& operation) {
  if (operation == "optimizer") return TimeKind::optimizer;
  if (operation == "outside operations" || operation == "batch preparation") return TimeKind::rest;
  const auto has = [&](const char* part) { return operation.find(part) != operation.npos; };
  if (has("cross_entropy") || has("loss")) return TimeKind::loss;
  if (has("attention") || has("softmax")) return TimeKind::attention;
  if (has("linear") || has("matmul") || has("conv")) return TimeKind::products;
  return TimeKind::norms;
}

struct TimeRow {
  std::string name;
  double forward = 0, backward = 0;
  std::optional<double> kind = {};  // index of an operation's TimeKind
};

// [[name, forward, backward, kind or null]], the longest first.
Json longest_first(std::vector<TimeRow> rows) {
  std::ranges::stable_sort(rows, std::greater(),
                           [](const TimeRow& row) { return row.forward + row.backward; });
  Json list = Json::array();
  for (const auto& [name, forward, backward, kind] : rows)
    list.push(Json::array({name, six_digits(forward), six_digits(backward), kind}));
  return list;
}

Json time_json(const Profile& profile) {
  std::vector<TimeRow> layers, operations;
  for (const LayerRow& layer : profile.layers)
    layers.push_back({layer.name, layer.forward.seconds, layer.backward.seconds});
  std::map<std::string, TimeRow> by_name;
  for (const ProfileRow& row : profile.forward) by_name[row.name].forward = row.seconds;
  for (const ProfileRow& row : profile.backward) by_name[row.name].backward = row.seconds;
  for (const ProfileRow& row : profile.rest) by_name[row.name].backward += row.seconds;
  for (const auto& [name, row] : by_name)
    operations.push_back({name, row.forward, row.backward, static_cast<double>(time_kind(name))});
  return Json::object()
      .set("seconds", profile.seconds)
      .set("kinds", time_by_kind(profile))
      .set("layers", longest_first(std::move(layers)))
      .set("operations", longest_first(std::move(operations)));
}

Section time_section(const Details& details) {
  if (!details.profile) return {"time", "Where the time goes", "", ""};
  const Json time = time_json(*details.profile);
  std::vector<Cells> rows;  // without scripts
  const auto add = [&](const std::string& name, const Json& forward, const Json& backward) {
    rows.push_back({name, fmt::format("{:.2f} ms", 1e3 * (forward.number() + backward.number()))});
  };
  for (const Json& kind : time.at("kinds").elements())
    add(kind.at("name").string(), kind.at("forward"), kind.at("backward"));
  for (const char* list : {"layers", "operations"})
    for (const Json& row : time.at(list).elements())
      add(row.elements()[0].string(), row.elements()[1], row.elements()[2]);
  return {"time", "Where the time goes",
          fmt::format("one training step: <b>{:.2f} ms</b>, measured for this page; pale part of a "
                      "bar: forward, full part: backward",
                      1e3 * details.profile->seconds),
          html_drawing("time", html_table({"kind, layer or operation", "of a step"}, rows))};
}

// --- The rest.

// Weights that the page shows without scripts: the largest of each query of the last map.
std::string attention_words(const Json& atlas) {
  const Json& example = atlas.at("examples").elements().at(0);
  return fmt::format(
      "<p class=\"q\">Step {}: {}. The drawings of all heads need scripts; <span "
      "class=\"m\">heed attend</span> writes the numbers.</p>\n",
      thin_grouped(static_cast<double>(atlas.at("steps").elements().back().integer())),
      html(example.at("title").string()));
}

Section reproduce_section(const ReportedRun& run, const Details& details) {
  std::string text;
  if (!run.command.empty()) text += "<p class=\"q s\">Trained by</p>\n" + html_command(run.command);
  if (run.state == RunState::done)
    text += "<p class=\"q s\">Train it again, and compare every bit</p>\n" +
            html_command(heed_command({"train", "--from", run.name()})) +
            "<p class=\"q s\">Use it</p>\n" + html_command(heed_command({"evaluate", run.name()}));
  std::string facts;
  for (const auto& [label, value] : run.record)
    facts += fmt::format("<dt>{}</dt><dd>{}</dd>", html(label), html(value));
  if (!facts.empty())
    text = fmt::format("<div class=\"two\"><div>\n{}</div>\n<dl class=\"record\">{}</dl></div>\n",
                       text, facts);
  const auto listing = [](const char* name, const std::string& lines) {
    return html_fold(name, "<pre>" + html(lines) + "</pre>\n");
  };
  text += changed_keys_of_run(run) +
          listing("All keys", config_text(list_config(run.saved.config.experiment)));
  if (!details.model.empty()) text += listing("Layers, shapes and FLOPs", details.model);
  return {"reproduce", "Reproduce", "", text};
}

}  // namespace

std::string notes_part(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
  return text;
}

// A row for each split; the main score first, with its interval where it counts examples.
std::string scores_of_run(const Json& result) {
  if (!result.is_object()) return "";
  const MainScore main = main_score_of(result);
  std::vector<std::string> names;
  bool has_loss = false;
  for (const auto& [split, scores] : result.members())
    if (scores.is_object())
      for (const auto& [name, score] : scores.members()) {
        has_loss = has_loss || name == "loss";
        if (!is_count(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
  std::erase_if(names, [&](const auto& name) { return has_loss && name == "perplexity"; });
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == main.name; });
  const bool interval = main.name == "exact_match";
  std::vector<Cell> heads(1);
  for (const std::string& name : names) {
    heads.push_back({html(spaced(name)), "n"});
    if (interval && name == main.name) heads.push_back({"95 % interval", "n"});
  }
  heads.push_back({"of", "n"});
  std::string rows;
  for (const auto& [split, scores] : result.members()) {
    if (!scores.is_object()) continue;
    const double n = scores.find_number("examples").value_or(0);
    std::vector<Cell> row{{html(split_words(split))}};
    for (const std::string& name : names) {
      const std::optional<double> score = scores.find_number(name);
      row.push_back({score ? score_text(name, *score) : "–", "n"});
      if (name != main.name) continue;
      if (split == main.split) row.back().html = "<b>" + row.back().html + "</b>";
      if (!interval) continue;
      const auto [low, high] = exact_match_interval(scores);
      if (high < main.interval.low) row.back().style = "n bad";  // surely worse
      row.push_back(
          {std::isnan(low) ? "–" : fmt::format("{:.1f} … {:.1f}", 100 * low, 100 * high), "n q"});
    }
    row.push_back({n >= 1 ? thin_grouped(n) : "–", "n q"});
    rows += html_row(row);
  }
  return rows.empty() ? "" : html_table(heads, rows);
}

std::string changed_keys_of_run(const ReportedRun& run) {
  const Experiment& experiment = run.saved.config.experiment;
  std::vector<Cells> rows;
  for (const auto& [key, value, standard] : changed_values(experiment)) {
    const auto origin = run.set_in.find(key);
    rows.push_back({key, value, standard, origin == run.set_in.end() ? "" : origin->second});
  }
  return html_fold(counted(std::ssize(rows), "key") + " with another value than the default",
                   html_table({"key", "value", "default", "set in"}, rows, 4));
}

std::string ends_of_curves(const std::vector<Json>& charts) {
  std::vector<Cells> rows;
  for (const Json& chart : charts)
    for (const Json& line : chart.at("lines").elements()) {
      const auto& x = line.at("x").elements();
      const auto& y = line.at("y").elements();
      if (y.empty()) continue;
      const std::string score = chart.at("name").string();
      const auto text = [&](const Json& value) {
        return chart.at("fraction").flag() ? fmt::format("{:.1f} %", 100 * value.number())
                                           : four_digits(value.number());
      };
      const auto at = [&](size_t i) {
        return fmt::format("{} (step {})", text(y[i]), thin_grouped(x[i].number()));
      };
      size_t best = 0;
      for (size_t i = 0; i < y.size(); ++i)
        if (is_better(score, y[i].number(), y[best].number())) best = i;
      const std::string label = line.at("label").string(), title = chart.at("title").string();
      rows.push_back({label == title ? title : title + ", " + label, at(0), at(y.size() - 1),
                      find_score(score) || score == "loss" ? at(best) : "–"});
    }
  return rows.empty() ? "" : html_table({"curve", "first", "last", "best"}, rows);
}

Json time_by_kind(const Profile& profile) {
  std::array<TimeRow, std::size(kinds)> sums;
  const auto sum_of = [&](TimeKind kind) -> TimeRow& { return sums[static_cast<size_t>(kind)]; };
  for (const ProfileRow& row : profile.forward) sum_of(time_kind(row.name)).forward += row.seconds;
  for (const ProfileRow& row : profile.backward)
    sum_of(time_kind(row.name)).backward += row.seconds;
  for (const ProfileRow& row : profile.rest)
    sum_of(row.name.find("optimizer") != row.name.npos ? TimeKind::optimizer : TimeKind::rest)
        .backward += row.seconds;
  Json list = Json::array();
  for (const auto& [name, kind] : kinds)
    list.push(Json::object()
                  .set("name", name)
                  .set("forward", six_digits(sum_of(kind).forward))
                  .set("backward", six_digits(sum_of(kind).backward)));
  return list;
}

std::string top_of_run(const Report& report) {
  const ReportedRun& run = report.runs[0];
  const Details details = report.details.value_or(Details());
  return fmt::format(
      "<div id=\"top\" class=\"two\"><div><p class=\"say\">{}</p>\n<p class=\"lead\">{}</p>\n{}{}"
      "</div>\n<div>{}</div></div>\n{}",
      html(headline_of(run)), html(lead_of(run)), notes_part(run.notes), notes_part(details.notes),
      scores_of_run(run.result), what_it_is(run, details));
}

std::vector<Section> sections_of_run(const Report& report) {
  const ReportedRun& run = report.runs[0];
  const Details details = report.details.value_or(Details());
  std::vector<Section> sections;
  sections.push_back(
      {"curves", "Curves", "",
       report.charts.empty() ? "" : html_drawing("curves", ends_of_curves(report.charts))});
  sections.push_back(samples_section(details));
  sections.push_back({"attention", "Attention", "rows read, columns are read",
                      details.attention.is_null()
                          ? ""
                          : html_drawing("attention", attention_words(details.attention))});
  sections.push_back(errors_section(details));
  sections.push_back({"parameters", "Parameters and layers", "",
                      report.statistics.empty()
                          ? ""
                          : html_drawing("statistics", ends_of_curves(report.statistics))});
  sections.push_back(time_section(details));
  sections.push_back(reproduce_section(run, details));
  return sections;
}

Json data_of_run(const Report& report) {
  const ReportedRun& run = report.runs[0];
  Json data = Json::object()
                  .set("curves", Json::array(report.charts))
                  .set("statistics", Json::array(report.statistics));
  Json checkpoints = Json::array();
  for (const int64_t step : Checkpoints(run.saved.folder.checkpoints(), 1).steps())
    checkpoints.push(step);
  data.set("checkpoints", std::move(checkpoints));
  data.set("clip", run.saved.config.experiment.optim.clip_norm);
  if (const auto best = run.result.find_number("best_step")) data.set("best", *best);
  if (!report.details) return data;
  const Details& details = *report.details;
  if (details.guess > 0) data.set("guess", details.guess).set("choices", details.choices);
  Json samples = Json::array();
  for (const SampledSplit& split : details.samples)
    for (const auto& [source, predicted, expected] : split.samples)
      samples.push(Json::array({split.split, source, predicted, expected}));
  data.set("samples", std::move(samples))
      .set("lengths", details.lengths)
      .set("attention", details.attention);
  if (details.confusion) {
    Json counts = Json::array();
    for (const auto& [expected, predicted, count] : details.confusion->counts)
      counts.push(
          Json::array({static_cast<int64_t>(expected), static_cast<int64_t>(predicted), count}));
    if (details.confusion->labels.size() <= max_confused_labels)
      data.set(
          "confusion",
          Json::object().set("labels", details.confusion->labels).set("counts", std::move(counts)));
  }
  if (details.profile) data.set("time", time_json(*details.profile));
  return data;
}

}  // namespace heed
