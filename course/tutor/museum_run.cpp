#include "course/tutor/museum_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <future>

#include "apps/config/named_run.h"
#include "apps/support/clock.h"
#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/lines.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/numbers.h"
#include "apps/support/table.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/parallel.h"
#include "core/text.h"
#include "course/tutor/changed_program.h"
#include "course/tutor/limited_process.h"

namespace heed {
namespace {

constexpr ProcessLimits run_limits{.seconds = 600, .file_bytes = int64_t{1} << 30};
constexpr size_t max_rows = 12;  // of a curve
constexpr double bar_columns = 24;
constexpr size_t page_columns = 100;  // that two outputs side by side may take

// "██████▌": a bar of `value` where `most` has bar_columns.
std::string bar_of(double value, double most) {
  constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(value > 0) || !(most > 0)) return "";
  const auto eighths = static_cast<int>(std::lround(std::min(1.0, value / most) * bar_columns * 8));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + parts[eighths % 8];
}

// The first number after a text.
std::optional<double> number_after(const std::string& text, const std::string& words) {
  const size_t found = text.find(words);
  if (found == std::string::npos) return {};
  for (size_t at = found + words.size(); at < text.size() && text[at] != '\n'; ++at) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str() + at, &end);
    if (end != text.c_str() + at) return number;
  }
  return {};
}

// Runs one program as the experiment says.
class SideTraining {
 public:
  SideTraining(const Workshop& workshop, const MuseumExperiment& experiment, std::string folder)
      : workshop_(workshop), experiment_(experiment) {
    side_.folder = std::move(folder);
    make_folders(side_.folder);
    for (const char* name : {"configs", "course", "docs"})
      point_link(in_folder(side_.folder, name), in_folder(workshop.sources, name));
  }

  MuseumSide run(const std::vector<std::string>& assignments) {
    if (!experiment_.train.empty()) train(assignments);
    for (const std::string& line : experiment_.show) {
      const EndedProcess ended =
          run_limited({"/bin/sh", "-c", "PATH=$PWD:$PATH; " + line}, side_.folder, {}, run_limits);
      side_.shown.push_back(ended.output);
    }
    return std::move(side_);
  }

 private:
  void train(const std::vector<std::string>& assignments) {
    std::vector<std::string> words{in_folder(side_.folder, "heed"), "train",
                                   in_folder(workshop_.sources, experiment_.train), "--run", "run"};
    const int threads = std::max(1, thread_count() / 2);  // the other program trains beside it
    std::vector<std::string> all{fmt::format("threads={}", threads)};
    for (const auto* list : {&experiment_.set, &assignments})
      all.insert(all.end(), list->begin(), list->end());
    for (const std::string& assignment : all) {
      words.emplace_back("--set");
      words.push_back(assignment);
    }
    const EndedProcess ended = run_limited(words, side_.folder, {}, run_limits);
    side_.messages = ended.output;
    side_.failed = ended.end != EndedProcess::End::exited || ended.code != 0;
    const std::string run = in_folder(side_.folder, "run");
    side_.curves = read_curves(in_folder(run, run_files::metrics));
    if (const std::string file = in_folder(run, run_files::result); exists(file))
      side_.result = read_json(file, "result", 1 << 20);
  }

  const Workshop& workshop_;
  const MuseumExperiment& experiment_;
  MuseumSide side_;
};

std::string last_line_of(const std::string& text) {
  const auto lines = text_lines(text);
  return lines.empty() ? "" : lines.back();
}

std::string shown_number(const std::optional<double>& number) {
  return number ? fmt::format("{:.4g}", *number) : "none";
}

// A curve of both sides at some of its steps.
std::string curve_text(const std::string& name, const MuseumSide& right, const MuseumSide& wrong) {
  const Curve* const a = right.curves.find(name);
  if (!a) return "";
  const Curve* const b = wrong.curves.find(name);
  const auto at_step = [](const Curve* curve, double step) -> std::optional<double> {
    if (!curve) return {};
    const auto found = std::ranges::find(curve->steps, step);
    if (found == curve->steps.end()) return {};
    return curve->values[static_cast<size_t>(found - curve->steps.begin())];
  };
  double most = std::ranges::max(a->values);
  if (b) most = std::max(most, std::ranges::max(b->values));
  const size_t count = a->steps.size(), every = (count + max_rows - 1) / max_rows;
  const auto half = [&](const std::optional<double>& value) {
    if (!value) return std::string("     not finite");
    const std::string bar = bar_of(*value, most);
    return fmt::format("{:>9.4g}{}{}", *value, bar.empty() ? "" : "  ", bar);
  };
  const size_t width = 12 + static_cast<size_t>(bar_columns);
  std::string text =
      fmt::format("{}\n{:>7}  {:<{}}with the mistake\n", name, "step", "     as it is", width);
  for (size_t i = every - 1; i < count; i += every)
    text += fmt::format("{:>7}  {:<{}}{}\n", a->steps[i], half(a->values[i]), width,
                        half(at_step(b, a->steps[i])));
  return text + "\n";
}

// Two outputs beside each other, or one after the other if they are wide.
std::string beside(const std::string& a, const std::string& b) {
  const auto left = text_lines(a), right = text_lines(b);
  Table both{{{"as it is", "with the mistake"}}, {}};
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i)
    both.rows.push_back({i < left.size() ? left[i] : "", i < right.size() ? right[i] : ""});
  std::string text = both.text(2);
  const auto lines = text_lines(text);
  const bool fits = std::ranges::all_of(
      lines, [](const std::string& line) { return character_count(line) <= page_columns; });
  return fits ? text : fmt::format("as it is:\n{}\nwith the mistake:\n{}", a, b);
}

}  // namespace

std::optional<double> MuseumSide::number(const Expectation& expectation) const {
  if (!expectation.after.empty()) {
    for (const std::string& text : shown)
      if (const auto number = number_after(text, expectation.after)) return number;
    return number_after(messages, expectation.after);
  }
  const Curve* const curve = curves.find(expectation.value);
  if (curve && !curve->values.empty() && !failed) return curve->values.back();
  return result.find_number(expectation.value);
}

bool MuseumSide::prints(const std::string& text) const {
  return messages.find(text) != std::string::npos ||
         std::ranges::any_of(
             shown, [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

std::vector<std::string> MuseumResult::surprises() const {
  std::vector<std::string> lines;
  const auto within = [&](const MuseumSide& side, const Expectation& e, const char* which,
                          double low, double high) {
    const auto number = side.number(e);
    if (number ? *number >= low && *number <= high : std::isinf(low) && std::isinf(high)) return;
    lines.push_back(fmt::format("{} {}: expected {:g} to {:g}, got {}", which, e.value + e.after,
                                low, high, shown_number(number)));
  };
  for (const Expectation& e : experiment.expect) {
    if (!e.is_number()) {
      const bool by_right = !e.right_text.empty();
      const std::string& text = by_right ? e.right_text : e.wrong_text;
      if (right.prints(text) != by_right || (wrong && wrong->prints(text) == by_right))
        lines.push_back(fmt::format("{}: expected only {} the mistake", in_quotes(text),
                                    by_right ? "without" : "with"));
      continue;
    }
    within(right, e, "as it is,", e.right_min, e.right_max);
    if (wrong) within(*wrong, e, "with the mistake,", e.wrong_min, e.wrong_max);
  }
  return lines;
}

std::string MuseumResult::text() const {
  std::string text;
  if (wrong)
    for (const std::string& name : experiment.curves) text += curve_text(name, right, *wrong);
  if (wrong && wrong->failed)
    text += fmt::format("Training with the mistake fails: {}\n\n", last_line_of(wrong->messages));
  Table numbers{{{"", "as it is", "with the mistake"}}, {}};
  for (const Expectation& e : experiment.expect)
    if (e.is_number())
      numbers.rows.push_back({e.value + e.after, shown_number(right.number(e)),
                              wrong ? shown_number(wrong->number(e)) : ""});
  if (numbers.rows.size() > 1) text += numbers.text() + "\n";
  for (size_t i = 0; i < experiment.show.size(); ++i)
    text += fmt::format("$ {}\n{}\n", experiment.show[i],
                        wrong ? beside(right.shown[i], wrong->shown[i]) : right.shown[i]);
  return text;
}

void MuseumResult::add_to(Json& json) const {
  Json numbers = Json::array();
  for (const Expectation& e : experiment.expect) {
    if (!e.is_number()) continue;
    Json one = Json::object();
    one.set("name", e.value + e.after).set("right", right.number(e));
    if (wrong) one.set("wrong", wrong->number(e));
    numbers.push(one);
  }
  json.set("right", right.folder);
  if (wrong) json.set("wrong", wrong->folder);
  json.set("numbers", numbers).set("seconds", to_milliseconds(seconds));
  json.set("surprises", Json(surprises()));
}

MuseumResult run_exhibit(const Workshop& workshop, const Exhibit& exhibit) {
  const double start = now();
  MuseumResult run;
  run.experiment = exhibit.experiment();
  const SourceChange change{exhibit.patch(), exhibit.changed_files()};
  const std::string folder = in_folder(workshop.build, "course/museum/" + exhibit.name);
  remove_all(folder);
  make_folders(folder);
  SideTraining right(workshop, run.experiment, in_folder(folder, "right"));
  point_link(in_folder(folder, "right/heed"), program_path());
  std::future<MuseumSide> other = std::async(std::launch::async, [&] { return right.run({}); });
  if (!change.patch.empty() || !run.experiment.set_wrong.empty()) {
    SideTraining wrong(workshop, run.experiment, in_folder(folder, "wrong"));
    const std::string program = in_folder(folder, "wrong/heed");
    if (change.patch.empty()) {
      point_link(program, program_path());
    } else {
      logging::info("building {} with the mistake; beside it, heed runs as it is",
                    joined(change.files, " and "));
      build_changed_program(workshop, change, in_folder(folder, "wrong"));
    }
    logging::info("running it with the mistake");
    run.wrong = wrong.run(run.experiment.set_wrong);
  }
  run.right = other.get();
  check(!interrupted(), "interrupted");
  check(!run.right.failed, "the training fails without the mistake, too: {}",
        last_line_of(run.right.messages));
  run.seconds = now() - start;
  return run;
}

}  // namespace heed
