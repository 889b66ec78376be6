#include "sandbox/pod_logs.h"

#include <fmt/format.h>

#include <limits>

#include "json/timestamp.h"
#include "node/log_reader.h"
#include "sandbox/pod_request.h"

namespace quorate::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLookAgain = 200ms;

}  // namespace

struct PodLogs::Reading {
  ObjectKey pod;
  ContainerPlace place;
  node::LogReader reader;
  bool follow = false;
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();  // bytes that may still be said
};

bool PodLogs::serves(const net::ServerRequest& request) const {
  return request.method == "GET" && PodRequest::parse(request.path, "log").has_value();
}

Result<std::optional<WallTime>> PodLogs::find_since(const PodRequest& request) const {
  TRY(const auto seconds, request.number("sinceSeconds"));
  if (seconds) return runtime_.clock->wall() - std::chrono::seconds(*seconds);
  const auto time = request.text("sinceTime");
  if (time.empty()) return std::optional<WallTime>();
  TRY(const auto parsed, in("sinceTime", json::parse_time(time)));
  return parsed;
}

Result<PodLogs::Reading> PodLogs::open(const net::ServerRequest& request) {
  const auto asked = *PodRequest::parse(request.path, "log");
  TRY(auto place, find_container(api_, asked));
  TRY(auto* node, find_node(nodes_(), place.node));
  node::LogReader::Options options;
  options.previous = asked.flag("previous");
  options.timestamps = asked.flag("timestamps");
  TRY(options.tail, asked.number("tailLines"));
  TRY(options.since, find_since(asked));
  TRY(const auto limit, asked.number("limitBytes"));
  auto reader = node::LogReader::open(
      node->dirs().logs(asked.pod, place.uid) + "/" + place.container, options);
  if (!reader)
    return fail(
        std::move(reader)
            .error()
            .as(Code::kInvalid)
            .in(fmt::format("container \"{}\" in pod \"{}\"", place.container, asked.pod.name)));
  Reading out{asked.pod, std::move(place), std::move(*reader)};
  out.follow = asked.flag("follow") && !options.previous;
  if (limit) out.left = *limit;
  return out;
}

// While the run that is read is under way.
bool PodLogs::may_say_more(const Reading& reading) const {
  auto* nodes = nodes_();
  auto* node = nodes ? nodes->find(reading.place.node) : nullptr;
  const auto* pod = node ? node->find_pod(reading.pod) : nullptr;
  return pod && pod->pod().meta.uid == reading.place.uid &&
         pod->find_run(reading.place.container) == reading.reader.attempt();
}

Task<void> PodLogs::handle(net::ServerRequest request, net::Responder& responder) {
  auto reading = open(request);
  if (!reading) {
    [[maybe_unused]] auto told = co_await responder.respond(make_refusal(reading.error()));
    co_return;
  }
  [[maybe_unused]] auto sent = co_await send(std::move(*reading), responder);
}

Task<Result<void>> PodLogs::send(Reading reading, net::Responder& responder) {
  net::Headers headers{{"content-type", "text/plain"}};
  CO_TRY(co_await responder.start(200, std::move(headers)));
  while (reading.left > 0) {
    // Asked before the file is read: what was said until the end is read after it.
    const bool more = reading.follow && may_say_more(reading);
    CO_TRY(auto piece, reading.reader.read());
    if (piece.empty() && !more) break;
    if (piece.empty()) {
      CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(kLookAgain).at));
      continue;
    }
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), reading.left)));
    reading.left -= piece.size();
    CO_TRY(co_await responder.write(std::move(piece), rt::Deadline::never()));
  }
  co_return co_await responder.finish();
}

}  // namespace quorate::sandbox
