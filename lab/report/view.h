// The web server of `heed view`. It reads runs and writes nothing; training knows nothing of it.
//
// clang-format off
//   /                          the list of runs
//   /report?run=NAME&run=…     the page of a run, or of several; &details=1 adds attention and more
//   /events?run=NAME           server-sent events: one whenever the list, or one of these runs, has
//                              changed
//   /page.css, /page.js
// clang-format on
//
// It listens on 127.0.0.1 and answers only requests whose Host is that address or localhost, so
// that no other site can read it through a name of its own (DNS rebinding). Runs are found by the
// names in the list: no other path is opened.
#pragma once

#include <functional>
#include <string>

namespace heed {

// Serves the runs below `folder` until `stop` returns true. Calls `started` with the port. `port`
// may be 0: any that is free. Throws InputError if the port is taken.
void serve_view(const std::string& folder, int port, const std::function<void(int)>& started,
                const std::function<bool()>& stop);

}  // namespace heed
