// Only built where cpp-httplib is installed; see apps/CMakeLists.txt.
#include "lab/report/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <httplib.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "apps/support/clock.h"
#include "core/check.h"
#include "lab/report/inside_page.h"
#include "lab/report/page.h"
#include "lab/report/page_files.h"
#include "lab/report/report_data.h"
#include "lab/report/watched_folder.h"

namespace heed {

namespace {

constexpr size_t max_connections = 1000;  // each open page keeps one for its events
constexpr size_t max_runs_of_page = 1000;
constexpr size_t max_inside_pages = 8;        // that are kept
constexpr double seconds_between_signs = 10;  // of life, to notice pages that are closed

constexpr double seconds_for_head = 5;  // of a request

// The connections whose request is not complete. cpp-httplib waits for each byte anew, so a client
// that sends one now and then would keep its connection for ever.
class SlowConnections {
 public:
  // The request of a connection is complete. Its client is known by its port.
  void complete(int client) {
    const std::lock_guard lock(mutex_);
    complete_.insert(client);
  }

  // Ends connections to this port whose request is not complete after some seconds.
  void end_slow(int port) {
    const std::lock_guard lock(mutex_);
    std::map<int, double> open;
    const int limit = static_cast<int>(std::min<long>(::sysconf(_SC_OPEN_MAX), 1 << 16));
    for (int file = 0; file < limit; ++file) {
      const int client = client_of(file, port);
      if (client == 0) continue;
      const auto known = since_.find(client);
      const double since = open[client] = known == since_.end() ? now() : known->second;
      if (now() - since > seconds_for_head && !complete_.contains(client))
        ::shutdown(file, SHUT_RDWR);
    }
    since_ = std::move(open);
    std::erase_if(complete_, [&](int client) { return !since_.contains(client); });
  }

 private:
  // Returns the client's port of a connection to this one, 0 if the descriptor is something else.
  static int client_of(int file, int port) {
    sockaddr_in own{}, client{};
    socklen_t own_size = sizeof own, client_size = sizeof client;
    if (::getsockname(file, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
        own.sin_family != AF_INET || ntohs(own.sin_port) != port ||
        ::getpeername(file, reinterpret_cast<sockaddr*>(&client), &client_size) != 0)
      return 0;
    return ntohs(client.sin_port);
  }

  std::mutex mutex_;
  std::map<int, double> since_;  // when a connection was seen first
  std::set<int> complete_;
};

// Serves each connection on a thread of its own, so that connections that send nothing delay no
// others. cpp-httplib closes them after a few seconds. The server accepts no more than
// `max_connections` at a time; further ones wait until one of these ends.
class Connections final : public httplib::TaskQueue {
 public:
  // Old versions of cpp-httplib return nothing, newer ones (Debian 13) whether they serve it.
  using IsServed = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));

  IsServed enqueue(std::function<void()> connection) override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return open_ < max_connections || ends_; });
    ++open_;
    waiting_.push_back(std::move(connection));
    if (open_ > threads_.size()) start_thread();
    arrived_.notify_one();
    return IsServed(true);
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    arrived_.notify_all();
    ended_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void start_thread() {
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;  // else the system allows no more: wait for one of these
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [&] { return !waiting_.empty() || ends_; });
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
      --open_;
      ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_, ended_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t open_ = 0;
  bool ends_ = false;
};

class ViewServer {
 public:
  ViewServer(const std::string& folder, std::function<bool()> stop)
      : runs_(folder), stop_(std::move(stop)) {
    server_.new_task_queue = [] { return new Connections; };
    server_.set_socket_options([this](int listening) {
      httplib::default_socket_options(listening);
      listening_ = listening;
    });
    server_.set_payload_max_length(1 << 10);
    server_.set_keep_alive_max_count(1);  // so that each connection has one head
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& r) {
      slow_.complete(request.remote_port);
      return check(request, r);
    });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& r) {
      const std::string version = runs_.version();
      r.set_content(list_page(runs_.rows(), version), html_type);
    });
    server_.Get("/report", [this](const httplib::Request& request, httplib::Response& r) {
      send_report(request, r);
    });
    server_.Get("/inside", [this](const httplib::Request& request, httplib::Response& r) {
      send_inside(request, r);
    });
    server_.Get("/events", [this](const httplib::Request& request, httplib::Response& r) {
      send_events(request, r);
    });
    serve_file("/page.css", page_files::style, "text/css; charset=utf-8");
    serve_file("/page.js", page_files::script, "text/javascript; charset=utf-8");
  }

  void run(int port, const std::function<void(int)>& started) {
    port_ = port == 0                             ? server_.bind_to_any_port(address)
            : server_.bind_to_port(address, port) ? port
                                                  : -1;
    check_input(port_ > 0, "--port: cannot listen on port {} of {}; choose another, or 0 for any",
                port, address);
    ::listen(listening_, max_connections);  // cpp-httplib lets only 5 wait
    std::thread listener([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    started(port_);
    for (int i = 0; !stop_(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (i % 10 == 0) slow_.end_slow(port_);
    }
    server_.stop();
    listener.join();
  }

 private:
  static constexpr const char *address = "127.0.0.1", *html_type = "text/html; charset=utf-8";

  httplib::Server::HandlerResponse check(const httplib::Request& request, httplib::Response& r) {
    const std::string host = request.get_header_value("Host");
    r.set_header("Cache-Control", "no-store");
    r.set_header("X-Content-Type-Options", "nosniff");
    r.set_header("Referrer-Policy", "no-referrer");
    r.set_header("Cross-Origin-Resource-Policy", "same-origin");
    r.set_header("Content-Security-Policy",
                 "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
                 "connect-src 'self'; img-src data:; frame-ancestors 'none'");
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    const bool is_own = site.empty() || site == "none" || site.starts_with("same-") ||
                        request.get_header_value("Sec-Fetch-Mode") == "navigate";
    for (const char* name : {"127.0.0.1", "localhost"})
      if (is_own && host == fmt::format("{}:{}", name, port_))
        return httplib::Server::HandlerResponse::Unhandled;
    r.status = 403;
    r.set_content("open this page by its address 127.0.0.1\n", "text/plain; charset=utf-8");
    return httplib::Server::HandlerResponse::Handled;
  }

  void serve_file(const char* path, std::string_view text, const char* type) {
    server_.Get(path, [text, type](const httplib::Request&, httplib::Response& r) {
      r.set_content(text.data(), text.size(), type);
    });
  }

  static std::vector<std::string> names_in(const httplib::Request& request) {
    std::vector<std::string> names;
    const size_t count = std::min(request.get_param_value_count("run"), max_runs_of_page);
    for (size_t i = 0; i < count; ++i) names.push_back(request.get_param_value("run", i));
    return names;
  }

  void send_report(const httplib::Request& request, httplib::Response& r) {
    ReportRequest report_request;
    for (const std::string& name : names_in(request)) {
      if (!runs_.has(name)) return send_problem(r, 404, name + ": there is no such run (any more)");
      report_request.paths.push_back(runs_.path(name));
    }
    if (report_request.paths.empty()) return send_problem(r, 404, "choose a run from the list");
    report_request.details = report_request.profile = request.has_param("details");
    answer(r, [&] {
      std::unique_lock lock(computing_, std::defer_lock);
      if (report_request.details) lock.lock();  // models share the settings of the program
      const std::string version = runs_.version(names_in(request));
      Report report = report_data(report_request);
      if (report_request.paths.size() == 1) report.title = request.get_param_value("run");
      send(
          request, r, "report", [&] { return report_file(report); },
          [&] { return live_page(report, request.get_param_value("run"), version); });
    });
  }

  void send_inside(const httplib::Request& request, httplib::Response& r) {
    const std::string name = request.get_param_value("run");
    if (!runs_.has(name)) return send_problem(r, 404, name + ": there is no such run (any more)");
    answer(r, [&] {
      const std::lock_guard lock(computing_);
      const std::string version = runs_.version({name});
      auto known = std::ranges::find(inside_, version, &std::pair<std::string, FactsPage>::first);
      if (known == inside_.end()) {
        inside_.emplace_front(version, inside_page(runs_.path(name)));
        inside_.front().second.heading = name;
        known = inside_.begin();
        if (inside_.size() > max_inside_pages) inside_.pop_back();
      }
      const FactsPage& page = known->second;
      send(
          request, r, "inside", [&] { return page_file(page); }, [&] { return served_page(page); });
    });
  }

  // Calls f, which sends a page. If it fails, sends why.
  template <class F>
  static void answer(httplib::Response& r, F&& f) {
    try {
      f();
    } catch (const Error& error) {
      send_problem(r, 409, error.what());
    }
  }

  // Sends a page, or the same as one file to save.
  template <class File, class Page>
  static void send(const httplib::Request& request, httplib::Response& r, const char* name,
                   File&& file, Page&& page) {
    const bool saves = request.has_param("file");
    if (saves)
      r.set_header("Content-Disposition", fmt::format("attachment; filename=\"{}.html\"", name));
    r.set_content(saves ? file() : page(), html_type);
  }

  static void send_problem(httplib::Response& r, int status, const std::string& problem) {
    r.status = status;
    r.set_content(problem_page(problem), html_type);
  }

  // Tells a page when its runs have another version than it shows.
  void send_events(const httplib::Request& request, httplib::Response& r) {
    const std::vector<std::string> names = names_in(request);
    const std::string shown = request.get_param_value("version");
    r.set_chunked_content_provider(
        "text/event-stream", [this, names, last = shown.empty() ? runs_.version(names) : shown](
                                 size_t, httplib::DataSink& sink) mutable {
          for (double sign = now(); !stop_() && sink.is_writable();) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            const std::string version = runs_.version(names);
            const bool changed = version != last, alive = now() - sign > seconds_between_signs;
            last = version;
            if (changed || alive) {
              const std::string text = changed ? "data: changed\n\n" : ": alive\n\n";
              return sink.write(text.data(), text.size());
            }
          }
          sink.done();
          return false;
        });
  }

  WatchedFolder runs_;
  std::function<bool()> stop_;
  std::mutex computing_;
  std::deque<std::pair<std::string, FactsPage>> inside_;  // by version, newest first
  SlowConnections slow_;
  httplib::Server server_;
  int port_ = 0, listening_ = -1;
};

}  // namespace

void serve_view(const std::string& folder, int port, const std::function<void(int)>& started,
                const std::function<bool()>& stop) {
  ViewServer(folder, stop).run(port, started);
}

}  // namespace heed
