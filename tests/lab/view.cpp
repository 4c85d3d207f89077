// heed view: the server answers beside connections that send nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <signal.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "apps/support/files.h"
#include "core/descriptor.h"
#include "program.h"

using namespace heed;

namespace {

int connection_to(int port) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return connection;
}

// Returns the port that the server prints; 0 if the program ends instead.
int port_of(Subprocess& view, const std::string& output) {
  const std::string before = "http://127.0.0.1:";
  while (view.running()) {
    const std::string text = exists(output) ? read_file(output, "text") : "";
    if (text.ends_with('\n')) return std::stoi(text.substr(before.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

}  // namespace

TEST_CASE("view: 200 connections that send nothing do not delay a request") {
  const TemporaryFolder folder;
  ::setenv("HEED", HEED_PROGRAM, 1);
  Subprocess view({"-c", "exec \"$HEED\" view . > url"}, folder.path, "", "/bin/bash");
  const int port = port_of(view, folder / "url");
  if (port == 0) {
    CHECK_CONTAINS(view.wait().err, "built without cpp-httplib");
    return;
  }
  std::vector<int> idle(200);
  for (int& connection : idle) connection = connection_to(port);
  Descriptor asking(connection_to(port));
  write_all(asking, "GET / HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n", "");
  char answer[12] = {};
  CHECK(::recv(asking, answer, sizeof answer, MSG_WAITALL) == std::ssize(answer));
  CHECK(std::string_view(answer, sizeof answer) == "HTTP/1.1 200");
  // The server has not closed the others first, which it does after some seconds.
  const auto is_open = [](int connection) {
    char byte = 0;
    return ::recv(connection, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  };
  CHECK(std::ranges::count_if(idle, is_open) > 100);
  std::ranges::for_each(idle, ::close);
  asking.close();
  view.signal(SIGINT);
  CHECK(view.wait().code == 0);
}

TEST_CASE("view: a connection that sends its request byte by byte is closed, an open page is not") {
  const TemporaryFolder folder;
  ::setenv("HEED", HEED_PROGRAM, 1);
  Subprocess view({"-c", "exec \"$HEED\" view . > url"}, folder.path, "", "/bin/bash");
  const int port = port_of(view, folder / "url");
  if (port == 0) return;  // built without cpp-httplib
  const Descriptor page(connection_to(port)), slow(connection_to(port));
  write_all(page, "GET /events HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n",
            "");
  char byte = 0;
  std::string head;
  while (!head.ends_with("\r\n\r\n") && ::recv(page, &byte, 1, 0) == 1) head += byte;
  CHECK(head.starts_with("HTTP/1.1 200"));
  CHECK_CONTAINS(head, "Connection: close\r\n");  // each connection has one request
  CHECK_CONTAINS(head, "Content-Type: text/event-stream\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(::recv(page, &byte, 1, MSG_DONTWAIT) < 0);  // nothing has changed
  const auto check_told = [&](int connection) {
    std::string event;
    while (!event.ends_with("data: changed\n\n") && ::recv(connection, &byte, 1, 0) == 1)
      event += byte;
    CHECK_CONTAINS(event, "data: changed\n");
  };
  // A page that shows another version is told at once, although nothing changes any more.
  const Descriptor late(connection_to(port));
  write_all(
      late,
      "GET /events?version=a HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n", "");
  check_told(late);
  write_run(folder / "new", "seed = 1\n");
  check_told(page);
  const auto ended = [&](int connection) {
    const ssize_t got = ::recv(connection, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  };
  while (!ended(slow)) {  // for ever, if nobody closes it
    (void)!::send(slow, "G", 1, MSG_NOSIGNAL);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  CHECK_FALSE(ended(page));
  view.signal(SIGINT);
  CHECK(view.wait().code == 0);
}

TEST_CASE("view: other sites, other names and other paths get nothing, and nothing can be sent") {
  const TemporaryFolder folder;
  make_folders(folder / "runs");
  write_run(folder / "outside", "seed = 1\n");
  ::setenv("HEED", HEED_PROGRAM, 1);
  Subprocess view({"-c", "exec \"$HEED\" view runs > url"}, folder.path, "", "/bin/bash");
  const int port = port_of(view, folder / "url");
  if (port == 0) return;  // built without cpp-httplib
  const auto status = [&](const std::string& request, const std::string& headers) {
    const Descriptor asking(connection_to(port));
    write_all(asking, request + " HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n", "");
    char answer[12] = {};
    CHECK(::recv(asking, answer, sizeof answer, MSG_WAITALL) == std::ssize(answer));
    return std::string(answer + 9, 3);
  };
  const std::string own = "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  CHECK(status("GET /", own) == "200");
  CHECK(status("GET /", "Host: evil.example\r\n") == "403");
  CHECK(status("GET /", "Host: evil.example:" + std::to_string(port) + "\r\n") == "403");
  CHECK(status("GET /", own + "Sec-Fetch-Site: cross-site\r\n") == "403");
  for (const char* path : {"../outside", "/etc", "..%2Foutside"})
    for (const char* page : {"report", "inside"})
      CHECK(status(fmt::format("GET /{}?run={}", page, path), own) == "404");
  CHECK(status("GET /../outside/config.toml", own) == "404");
  for (const char* method : {"POST", "PUT", "DELETE"})
    CHECK(status(method + std::string(" /"), own + "Content-Length: 0\r\n") == "404");
  // It listens on no other address of this machine.
  const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);  // 127.0.0.2
  CHECK(::connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0);
  view.signal(SIGINT);
  CHECK(view.wait().code == 0);
}
