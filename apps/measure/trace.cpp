#include "apps/measure/profile.h"
#include "apps/support/json.h"

namespace heed {
namespace {

// The format counts in microseconds.
Json complete_event(const std::string& name, const char* category, int64_t begin, int64_t end) {
  return Json::object()
      .set("name", name)
      .set("cat", category)
      .set("ph", "X")
      .set("ts", static_cast<double>(begin) / 1e3)
      .set("dur", static_cast<double>(end - begin) / 1e3)
      .set("pid", 1)
      .set("tid", 1);
}

Json operation_event(const TimedEvent& event) {
  Json arguments = Json::object();
  if (event.pass != Pass::other) {
    arguments.set("part", event.part);
    std::vector<std::string> inputs;
    for (const Shape& input : event.inputs) inputs.push_back(fmt::format("{}", input));
    arguments.set("inputs", inputs).set("result", fmt::format("{}", event.result));
  }
  if (event.cost.flops > 0) arguments.set("flops", event.cost.flops);
  if (event.cost.bytes > 0) arguments.set("bytes", event.cost.bytes);
  Json json =
      complete_event(event.name, pass_names[static_cast<int>(event.pass)], event.begin, event.end);
  return json.set("args", std::move(arguments));
}

}  // namespace

std::string chrome_trace(const Profile& profile) {
  Json trace = Json::array();
  trace.push(complete_event("step", "step", 0, profile.step_nanoseconds));
  const std::vector<TimedEvent>& events = profile.step;
  for (size_t first = 0, last = 0; first < events.size(); first = last) {
    const TimedEvent& event = events[first];
    while (last < events.size() && events[last].layer == event.layer &&
           events[last].pass == event.pass)
      ++last;
    if (event.pass != Pass::other)
      trace.push(complete_event(event.layer, pass_names[static_cast<int>(event.pass)], event.begin,
                                events[last - 1].end));
    for (size_t i = first; i < last; ++i) trace.push(operation_event(events[i]));
  }
  return trace.text() + "\n";
}

}  // namespace heed
