// heed view: shows runs in a browser while they train.
#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/terminal.h"
#include "core/check.h"
#include "lab/commands/room.h"
#ifdef HEED_VIEW
#include "lab/report/view.h"
#endif

namespace heed {
namespace {

struct ViewArguments final : CommandArguments {
  std::string folder = "runs";
  int64_t port = 0;

  std::vector<Option> options() override {
    constexpr Range ports{0, 65535};
    return {{"[DIR]", "", &folder, "Folder that the runs are in (default: runs)"},
            {"--port", "PORT", &port,
             "Port to listen on, at 127.0.0.1 only (default: 0, any that is free)", ports}};
  }
  int run() const override {
#ifdef HEED_VIEW
    check_input(is_folder(folder), "{}: no such folder; give the one that your runs are in",
                folder);
    const InterruptGuard guard;
    std::string path = absolute_path(folder, ".");
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    serve_view(
        path, static_cast<int>(port),
        [&](int chosen) {
          print(fmt::format("http://127.0.0.1:{}/ shows {}; Ctrl-C ends it\n", chosen, folder));
          flush_output();
        },
        [] { return interrupted(); });
    return exit_done;
#else
    throw InputError(
        "this heed was built without cpp-httplib: install libcpp-httplib-dev (its name in Debian) "
        "and build again; ./heed view does both");
#endif
  }
};

}  // namespace

const Command lab_commands::view = {
    .name = "view",
    .summary = "Show runs in a browser while they train",
    .details =
        "Lists the sweeps and runs below the folder, with curves of those that you choose, and "
        "shows\n"
        "the page of heed report for each, or for several on the same axes, and that of heed "
        "inspect.\n"
        "Pages follow the runs as they train. Nothing is written, and only this machine can "
        "connect.\n"
        "Ctrl-C ends it, with exit code 0.\n"
        "\n"
        "Examples:\n"
        "  heed view\n"
        "  heed view runs/rates --port 8080",
    .arguments = make_arguments<ViewArguments>,
};

}  // namespace heed
