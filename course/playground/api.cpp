#include "course/playground/api.h"

#include <exception>
#include <new>
#include <string>

#include "core/text.h"
#include "course/playground/session.h"

struct HeedSession {
  heed::PlaygroundSession session;
};

namespace heed {
namespace {

std::string last_error, last_text;

// Calls f and returns its result; after an exception, keeps the message and returns `failed`.
template <class T, class F>
T guarded(T failed, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    last_error = "the model is too large for a page: there is no memory left";
  } catch (const std::exception& error) {
    last_error = escaped(error.what());
  }
  return failed;
}

template <class F>
const char* text_of_json(const F& f) {
  return guarded<const char*>(nullptr, [&] {
    last_text = f().text();
    return last_text.c_str();
  });
}

}  // namespace
}  // namespace heed

const char* heed_error(void) { return heed::last_error.c_str(); }

const char* heed_keys(void) {
  return heed::text_of_json([] { return heed::playground_keys(); });
}

HeedSession* heed_make(const char* toml, const char* mistake) {
  return heed::guarded<HeedSession*>(
      nullptr, [&] { return new HeedSession{heed::PlaygroundSession(toml, mistake)}; });
}

void heed_free(HeedSession* session) { delete session; }

const char* heed_summary(HeedSession* session) {
  return heed::text_of_json([&] { return session->session.summary(); });
}

const char* heed_scores(HeedSession* session) {
  return heed::text_of_json([&] { return session->session.scores(); });
}

const char* heed_predictions(HeedSession* session, int32_t count, const char* without) {
  return heed::text_of_json([&] { return session->session.predictions(count, without); });
}

const char* heed_trace(HeedSession* session, const char* text, int32_t example, int32_t position,
                       const char* without) {
  return heed::text_of_json(
      [&] { return session->session.trace(text, example, position, without); });
}

const char* heed_heads(HeedSession* session) {
  return heed::text_of_json([&] { return session->session.heads(); });
}

const char* heed_ablate(HeedSession* session, const char* part) {
  return heed::text_of_json([&] { return session->session.ablate(part); });
}

const char* heed_positions(HeedSession* session) {
  return heed::text_of_json([&] { return session->session.positions(); });
}

int32_t heed_step(HeedSession* session, double* loss) {
  return heed::guarded<int32_t>(-1, [&] {
    *loss = session->session.step();
    return static_cast<int32_t>(session->session.steps_done());
  });
}

int32_t heed_weight_count(HeedSession* session) {
  return static_cast<int32_t>(session->session.weight_count());
}

void heed_weights(HeedSession* session, void* to) {
  const auto count = static_cast<size_t>(session->session.weight_count());
  session->session.weights({static_cast<heed::real*>(to), count});
}

void heed_set_weights(HeedSession* session, const void* from) {
  const auto count = static_cast<size_t>(session->session.weight_count());
  session->session.set_weights({static_cast<const heed::real*>(from), count});
}
