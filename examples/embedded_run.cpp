// A trained run inside a program that asks it from four threads at once.
//
//   heed train configs/reverse.toml
//   embedded_run runs/reverse
#include <fmt/core.h>

#include <heed/core/parallel.h>
#include <heed/run.h>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} RUN\n", argv[0]);
    return 2;
  }
  try {
    const heed::Run run(argv[1]);
    heed::set_thread_count(1);  // this program has its own threads
    const std::vector<std::string> inputs{"1 2 3", "4 5 6 7", "8 9", "10 11 12"};
    std::vector<std::string> outputs(inputs.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < inputs.size(); ++i)
      threads.emplace_back([&, i] { outputs[i] = run.predict({inputs[i]})[0]; });
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < inputs.size(); ++i) fmt::print("{} → {}\n", inputs[i], outputs[i]);
    fmt::print("equal to one thread: {}\n", outputs == run.predict(inputs));
  } catch (const heed::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
