#include "apps/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <unistd.h>

#include "apps/config/named_run.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/support/shell.h"
#include "apps/support/terminal.h"
#include "apps/support/together.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/suggest.h"
#include "core/text.h"

namespace heed {

int UnknownTokens::exit_code(int64_t failed) const {
  if (count_ > 0) logging::warning("--unknown skip: left out {}", counted(count_, "token"));
  return failed == 0 ? exit_done : exit_misused;
}

namespace {

template <class Number>
void limit(CLI::Option* option, const Option& o) {
  const auto check = [range = o.range](const std::string& text) {
    Number number{};
    const bool valid = CLI::detail::lexical_cast(text, number) &&
                       static_cast<double>(number) >= range.least &&
                       static_cast<double>(number) <= range.most;
    return valid ? ""
                 : fmt::format("expected {} {}, found {}",
                               std::is_integral_v<Number> ? "an integer" : "a number",
                               range_text(range), in_quotes(text, '\''));
  };
  option->check(check)->type_name(o.value);
}

// Accepts one of the words in "auto|always|never".
void limit_to_words(CLI::Option* option, const std::string& value) {
  const std::vector<std::string> words = CLI::detail::split(value, '|');
  option->check([words](const std::string& text) {
    return std::find(words.begin(), words.end(), text) != words.end()
               ? ""
               : fmt::format("expected {}, found {}", joined(words, " or "), in_quotes(text, '\''));
  });
  option->type_name(value);
}

// Rejects '', which is what an unset variable of a shell gives: --run "$folder".
void refuse_empty(CLI::Option* option) {
  option->check(
      [](const std::string& text) { return text.empty() ? "expected a value, found ''" : ""; });
}

// "[RUN]" and "RUN..." → "RUN". --output has a short form in every command.
std::string bare_name(std::string_view name) {
  if (name == "--output") return "-o,--output";
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  if (name.ends_with("...")) name.remove_suffix(3);
  return std::string(name);
}

// Returns whether the value of an option is a run.
bool takes_run(const Option& o) {
  return std::string_view(o.name).find("RUN") != std::string_view::npos ||
         std::string_view(o.value).find("RUN") != std::string_view::npos;
}

void add_option(CLI::App& app, const Option& o) {
  const std::string name = bare_name(o.name);
  const auto add = [&](auto* target) -> CLI::Option* {
    using Target = std::remove_pointer_t<decltype(target)>;
    if constexpr (std::is_same_v<Target, bool>) {
      return app.add_flag(name, *target, o.help);
    } else {
      CLI::Option* option = app.add_option(name, *target, o.help);
      if (*o.value) option->type_name(o.value);
      if (has_words(o)) limit_to_words(option, o.value);
      if (takes_run(o))
        option->transform([](const std::string& path) { return from_first_rank(named_run(path)); });
      if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
        if (std::string_view(o.value).find(',') != std::string_view::npos)
          option->delimiter(',')->allow_extra_args(false);
        else if (name.starts_with('-'))
          option->expected(1)->take_all();
      }
      if constexpr (std::is_same_v<Target, int64_t> ||
                    std::is_same_v<Target, std::optional<int64_t>>)
        limit<int64_t>(option, o);
      else if constexpr (std::is_same_v<Target, double> ||
                         std::is_same_v<Target, std::optional<double>>)
        limit<double>(option, o);
      else if (o.value != std::string_view("TEXT"))
        refuse_empty(option);
      return option;
    }
  };
  CLI::Option* option = std::visit(add, o.target);
  if (name == o.name && !name.starts_with('-')) option->required();
  if (std::string_view(o.name).ends_with("...")) option->required();
  if (*o.group) option->group(o.group);
}

// Throws InputError if the first word is neither an option nor a command.
void check_command(const ProgramCommands& program, const std::string& word) {
  std::vector<std::string> names;
  for (const Command* command : program.commands) names.emplace_back(command->name);
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) return;
  for (const LeftOutCommand& command : program.left_out)
    check_input(
        word != command.name,
        "heed was built without {}/, which has the command '{}'; to build it, configure with "
        "cmake -D{}=ON",
        command.room, command.name, command.option);
  const std::string suggestion = did_you_mean(word, names);
  throw InputError(fmt::format("unknown command {}{}", in_quotes(word, '\''),
                               suggestion.empty() ? "; commands: " + joined(names) : suggestion));
}

}  // namespace

int run_command_line(const ProgramCommands& program, int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "help") {  // heed help train: heed train --help
    std::string option = "--help";
    char* asked[] = {argv[0], argc > 2 ? argv[2] : option.data(), option.data(), nullptr};
    return run_command_line(program, argc > 2 ? 3 : 2, asked);
  }
  if (argc > 1) check_command(program, argv[1]);
  CLI::App app("Train Transformers on a CPU, and use them.", "heed");
  app.require_subcommand(1);
  for (const Page& page : pages) {
    app.add_flag(page.name, page.help);
    if (argc != 2 || std::string_view(argv[1]) != page.name) continue;
    print(page.text(program.commands));
    return exit_done;
  }
  app.footer("heed COMMAND --help explains a command. To begin: heed train configs/reverse.toml");
  std::vector<std::unique_ptr<CommandArguments>> arguments;  // what the parser writes to
  int result = exit_done;
  std::string colours = "auto";
  for (const Command* command : program.commands) {
    arguments.push_back(command->arguments());
    arguments.back()->program = &program;
    CLI::App* added = app.add_subcommand(command->name, command->summary);
    for (const Option& option : arguments.back()->options()) add_option(*added, option);
    add_option(*added, colour_option(colours));
    added->footer(command->details);
    added->callback([&result, &colours, command, parsed = arguments.back().get()] {
      if (!command->shared_by_ranks && rank() > 0) return;
      const ScopeGuard here;
      std::optional<Alone> alone;
      if (!command->shared_by_ranks) alone.emplace();
      use_colours(colours == "auto"     ? Colours::automatic
                  : colours == "always" ? Colours::always
                                        : Colours::never);
      result = parsed->run();
    });
  }
  if (argc < 2) {
    std::string text = wrapped(app.help(), terminal_width(STDERR_FILENO));
    text.pop_back();  // the log ends the line
    logging::info("{}", text);
    return exit_misused;
  }
  try {
    app.parse(argc, argv);
    return result;
  } catch (const CLI::CallForHelp&) {
    print_wrapped(app.help());
    return exit_done;
  } catch (const CLI::ExtrasError&) {
    std::string words;  // CLI11 lists them from the last to the first
    for (const std::string& word : app.remaining(true))
      if (word != "--") words += " " + shell_word(word);
    throw InputError(
        fmt::format("unexpected arguments:{}; see heed {} --help", shortened(words, 300), argv[1]));
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}; see heed {} --help", shortened(error.what(), 300), argv[1]));
  }
}

}  // namespace heed
