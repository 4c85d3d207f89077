// The manual page and the completion script, from the same tables as --help.

#include <fmt/format.h>

#include <algorithm>

#include "apps/commands/command_line.h"
#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "apps/support/version.h"

namespace heed {
namespace {

bool is_positional(const Option& option) { return option.name[0] != '-'; }
bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.target); }

// Escapes text for roff: backslashes, hyphens, and control characters at the start of a line.
std::string roff(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((i == 0 || text[i - 1] == '\n') && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\')
      result += "\\e";
    else if (text[i] == '-')
      result += "\\-";
    else
      result += text[i];
  }
  return result;
}

std::string roff_option(const std::string& name, const std::string& value,
                        const std::string& help) {
  const std::string shown = value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(value));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), shown, roff(help));
}

std::string roff_command(const Command& command) {
  const std::unique_ptr<CommandArguments> arguments = command.arguments();
  const std::vector<Option> options = arguments->options();
  std::string synopsis = fmt::format("heed {}", command.name), text;
  for (const Option& option : options)
    if (is_positional(option)) synopsis += std::string(" ") + option.name;
  std::vector<std::string> groups = {""};
  for (const Option& option : options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.emplace_back(option.group);
  for (const std::string& group : groups) {
    if (!group.empty()) text += fmt::format(".PP\n{}:\n", roff(group));
    for (const Option& option : options)
      if (group == option.group) text += roff_option(option.name, option.value, option.help);
  }
  return fmt::format(".SS {} [\\fIoptions\\fR]\n{}.\n{}.PP\n.nf\n{}\n.fi\n", roff(synopsis),
                     roff(command.summary), text, roff(command.details));
}

// The words of an option that takes one of several: "error|skip" → "error skip".
std::string words_of(const Option& option) {
  std::string words = option.value;
  std::ranges::replace(words, '|', ' ');
  return words;
}

// Returns a line of a case statement: what follows the option is one of some words, a key of a
// config, a file, or anything.
std::string completion_of_value(const Command& command, const Option& option) {
  const std::string pattern = fmt::format("    '{} {}')", command.name, option.name);
  const std::string value = option.value;
  if (value == "KEY=VALUE")
    return pattern + " compopt -o nospace 2>/dev/null; _heed_words \"$keys\"; return ;;\n";
  if (has_words(option))
    return fmt::format("{} _heed_words '{}'; return ;;\n", pattern, words_of(option));
  for (const char* file : {"FILE", "DIR", "RUN"})
    if (value.find(file) != value.npos) return pattern + " _heed_files; return ;;\n";
  return pattern + " return ;;\n";
}

}  // namespace

std::string version_page(Commands) { return version_text() + "\n"; }

std::string manual_page(Commands commands) {
  std::string text = fmt::format(
      ".TH HEED 1 \"\" \"heed {}\" \"User Commands\"\n.SH NAME\nheed \\- train Transformers on a "
      "CPU, and use them\n.SH SYNOPSIS\n\\fBheed\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH "
      "OPTIONS\n",
      program_version);
  text += roff_option("--help", "", "Print the commands, or after a command its options");
  for (const Page& page : pages) text += roff_option(page.name, "", page.help);
  text += ".PP\nEvery command has:\n";
  std::string colour;
  const Option option = colour_option(colour);
  text += roff_option(option.name, option.value, option.help);
  text += ".SH COMMANDS\n";
  for (const Command* command : commands) text += roff_command(*command);
  text += ".SH EXIT STATUS\n";
  for (const auto& [meaning, code] : exit_codes)
    text += fmt::format(".TP\n{}\n{}\n", code, roff(meaning));
  text += ".SH ENVIRONMENT\n";
  text += roff_option("NO_COLOR", "", "If set, no colours; see https://no-color.org");
  text +=
      roff_option("OMP_NUM_THREADS", "", "Number of threads, unless a config or an option sets it");
  return text;
}

std::string bash_completion(Commands commands) {
  std::string names, options, values, keys;
  for (const Page& page : pages) names += std::string(" ") + page.name;
  for (const ConfigEntry& entry : list_config(Experiment())) keys += " " + entry.key + "=";
  for (const Command* command : commands) {
    names += std::string(" ") + command->name;
    const std::unique_ptr<CommandArguments> arguments = command->arguments();
    std::string colour, words = "--help";
    std::vector<Option> all = arguments->options();
    all.push_back(colour_option(colour));
    for (const Option& option : all) {
      if (is_positional(option)) continue;
      words += std::string(" ") + option.name;
      if (!is_flag(option)) values += completion_of_value(*command, option);
    }
    options += fmt::format("    {}) options='{}' ;;\n", command->name, words);
  }
  return fmt::format(R"(# Completion for bash, printed by heed --completion.
_heed_words() {{ COMPREPLY=($(compgen -W "$1" -- "$current")); }}
_heed_files() {{
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY=($(compgen -f -- "$current"))
}}
_heed() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} options=
  local keys='{}'
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _heed_words '--help{}'
    return
  fi
  case "$command ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{}  esac
  case $command in
{}  esac
  if [[ $current == -* ]]; then
    _heed_words "$options"
  else
    _heed_files
  fi
}}
complete -F _heed heed
)",
                     keys, names, values, options);
}

}  // namespace heed
