// A room is a part of heed that the framework does not need and does not name: lab, course. It
// brings commands of its own, in a list like that of command.h, and measures for train.measures. A
// build can leave it out.
#pragma once

#include <functional>
#include <vector>

#include "apps/commands/command.h"
#include "apps/training/measures.h"

namespace heed {

struct Room {
  Commands commands;
  Measures measures = {};
};

// A command of a room that a build left out.
struct LeftOutCommand {
  const char *name, *room;
  const char* option;  // of CMake, which builds the room
};

struct ProgramCommands {
  std::vector<const Command*> commands;
  std::vector<LeftOutCommand> left_out;
  std::vector<const Measure*> measures = {};
  // Is called with each training before its first step; null: is not.
  std::function<void(TrainingLoop& training)> prepare = {};
};

// Defined for each program by heed_rooms() of apps/CMakeLists.txt.
ProgramCommands program_commands();

// Returns the commands of the framework and then those of the rooms.
inline std::vector<const Command*> commands_with(std::initializer_list<const Room*> rooms) {
  std::vector<const Command*> all(std::begin(commands::all), std::end(commands::all));
  for (const Room* room : rooms)
    all.insert(all.end(), room->commands.begin(), room->commands.end());
  return all;
}

// Returns the measures of the rooms.
inline std::vector<const Measure*> measures_of(std::initializer_list<const Room*> rooms) {
  std::vector<const Measure*> all;
  for (const Room* room : rooms)
    all.insert(all.end(), room->measures.begin(), room->measures.end());
  return all;
}

}  // namespace heed
