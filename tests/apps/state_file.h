// state.json of a checkpoint, changed by a test so that its own SHA-256 is right: what another
// version of heed, or somebody with bad intentions, may have written.
#pragma once

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "temporary.h"

// Calls change(Json& state) on the state of a checkpoint's folder and writes it back.
template <class Change>
void change_state(const std::string& checkpoint, Change&& change) {
  const std::string file = checkpoint + "/state.json";
  heed::Json state = heed::Json::parse(heed::read_file(file, "state"), file);
  state.remove("state_sha256");
  change(state);
  state.set("state_sha256", heed::sha256(state.text()));
  heed::write_file(file, state.text(2));
}
