#include "apps/support/json.h"
#include "lab/measure/profile.h"

namespace heed {

// Returns a complete event. Its times are in microseconds.
static Json complete_event(const std::string& name, const char* category, int64_t begin,
                           int64_t end) {
  return Json::object()
      .set("name", name)
      .set("cat", category)
      .set("ph", "X")
      .set("ts", static_cast<double>(begin) / 1e3)
      .set("dur", static_cast<double>(end - begin) / 1e3)
      .set("pid", 1)
      .set("tid", 1);
}

static Json operation_event(const TracedEvent& traced) {
  const Event& event = traced.event;
  Json arguments = Json::object();
  if (event.pass != Pass::other) {
    arguments.set("part", traced.part);
    std::vector<std::string> inputs;
    for (const Shape& input : event.inputs)
      if (input.rank() > 0) inputs.push_back(fmt::format("{}", input));
    arguments.set("inputs", inputs).set("result", fmt::format("{}", event.result));
  }
  if (event.cost.flops > 0) arguments.set("flops", event.cost.flops);
  if (event.cost.bytes > 0) arguments.set("bytes", event.cost.bytes);
  return complete_event(event.name, name_of(passes, event.pass), event.begin, event.end)
      .set("args", std::move(arguments));
}

std::string chrome_trace(const Profile& profile) {
  Json trace = Json::array();
  trace.push(complete_event("step", "step", 0, profile.trace_nanoseconds));
  const std::vector<TracedEvent>& events = profile.trace;
  for (size_t first = 0, last = 0; first < events.size(); first = last) {
    const auto& [event, part, layer] = events[first];
    while (last < events.size() && events[last].layer == layer &&
           events[last].event.pass == event.pass)
      ++last;
    if (event.pass != Pass::other)
      trace.push(complete_event(layer, name_of(passes, event.pass), event.begin,
                                events[last - 1].event.end));
    for (size_t i = first; i < last; ++i) trace.push(operation_event(events[i]));
  }
  return trace.text() + "\n";
}

}  // namespace heed
