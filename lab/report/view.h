// The web server of `heed view`. It reads runs and writes nothing; training knows nothing of it.
//
// clang-format off
//   /                          the list of runs
//   /report?run=NAME&run=…     the page of a run, of a sweep, or of several; &details=1 adds attention and more
//   /inside?run=NAME           the page of heed inspect; the last ones are kept in memory
//                              &file=1 of both: as one file to save
//   /events?run=NAME           server-sent events: one whenever the list, or one of these runs, has changed
//   /page.css, /page.js
// clang-format on
//
// It listens on 127.0.0.1 and answers only requests whose Host is that address or localhost, so
// that no other site can read it through a name of its own (DNS rebinding), and nothing that a page
// of another site asks for. Runs are found by the names in the list: no other path is opened. What
// takes long (details, inside) is computed for one request at a time.
#pragma once

#include <functional>
#include <string>

namespace heed {

// Serves the runs below `folder` until `stop` returns true. Calls `started` with the port. `port`
// may be 0: any that is free. Throws InputError if the port is taken.
void serve_view(const std::string& folder, int port, const std::function<void(int)>& started,
                const std::function<bool()>& stop);

}  // namespace heed
