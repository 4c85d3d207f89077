// Modifies state.json of a checkpoint and keeps its SHA-256 valid, as another version of heed or an
// attacker could.
#pragma once

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/json.h"
#include "temporary.h"

// Calls change(Json& state) on the state in a checkpoint's folder and writes the file back.
template <class Change>
void change_state(const std::string& checkpoint, Change&& change) {
  const std::string file = checkpoint + "/state.json";
  heed::Json state = heed::Json::parse(heed::read_file(file, "state"), file);
  state.remove("state_sha256");
  change(state);
  state.set("state_sha256", heed::sha256(state.text()));
  heed::write_file(file, state.text(2));
}
