#include "conform_kube_run.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "base/strings.h"

namespace quorate::conform {

namespace {

using namespace std::chrono_literals;

// `${3:/metadata/uid}` by what answer 3 holds there; `${3:/events/0/...}` by what a watch said.
std::string fill_in(const std::string& text, const Transcript& answers) {
  std::string out;
  std::size_t done = 0;
  for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", done)) {
    const auto end = text.find('}', at);
    const auto place = cut(std::string_view(text).substr(at + 2, end - at - 2), ":");
    const auto step = place ? parse_integer(place->before) : std::nullopt;
    if (end == std::string::npos || !step)
      throw std::logic_error("not a place in an answer: " + text);
    out.append(text, done, at - done);
    const auto number = static_cast<std::size_t>(*step);
    const bool event = place->after.starts_with("/events");
    const auto pointer = fmt::format("{}{}", event ? "" : "/body", place->after);
    out += number < answers.size() ? json::text_or(answers[number], pointer, "none") : "none";
    done = end + 1;
  }
  return out.append(text, done);
}

json::Value body_of(const Step& step, const Transcript& answers) {
  auto body = step.body;
  if (step.from && *step.from < answers.size()) {
    const auto* answer = json::find(answers[*step.from], "/body");
    const auto* status = json::find(answers[*step.from], "/status");
    if (answer && answer->is_object() && status && *status == 200) body = *answer;
    if (answer && answer->is_object() && status && *status == 201) body = *answer;
  }
  for (const auto& change : step.changes) {
    if (change.value.is_null())
      json::remove(body, change.pointer);
    else
      (void)json::put(body, change.pointer, change.value);
  }
  return body;
}

json::Array warnings_of(const net::Headers& headers) {
  std::set<std::string> texts;  // their order is not promised
  for (const auto& [name, value] : headers)
    if (name == "warning") texts.insert(value);
  json::Array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

json::Value parsed_or_text(const std::string& text) {
  auto parsed = json::parse(text);
  return parsed ? std::move(*parsed) : json::Value(text);
}

Task<Result<json::Value>> read_watch(kube::Api& api, net::Request request, rt::Deadline deadline) {
  CO_TRY(auto stream, co_await api.open(std::move(request), deadline));
  std::string all;
  while (true) {
    CO_TRY(auto piece, co_await stream->read(deadline));
    if (!piece) break;
    all += *piece;
  }
  json::Array events;
  for (const auto line : split(all, '\n'))
    if (!trim(line).empty() && stream->status() == 200)
      events.push_back(parsed_or_text(std::string(line)));
  co_return json::Object{{"status", stream->status()}, {"events", std::move(events)}};
}

// A server that has only just begun with a kind of object has not looked at the request.
Task<Result<net::Response>> call(rt::Runtime runtime, kube::Api& api, net::Request request) {
  const auto deadline = runtime.in(60s);
  while (true) {
    CO_TRY(auto answer, co_await api.call(request, deadline));
    const bool begins =
        answer.status == 429 && answer.body.find("(re)initializing") != std::string::npos;
    if (!begins) co_return answer;
    CO_TRY(co_await runtime.clock->sleep_until(runtime.in(200ms).at));
  }
}

}  // namespace

Task<Result<void>> make_namespace(rt::Runtime runtime, kube::Api& api, std::string name) {
  net::Request request{"POST", "/api/v1/namespaces", {}, ""};
  request.headers = {{"content-type", "application/json"}};
  request.body = json::render({{"metadata", {{"name", name}, {"labels", {{"for", "conform"}}}}}});
  CO_TRY(auto made, co_await api.call(std::move(request), runtime.in(60s)));
  if (made.status != 201)
    co_return fail(Code::kInternal, fmt::format("namespace {}: {}", name, made.body));
  co_return Result<void>();
}

Task<Result<Reply>> ask(rt::Runtime runtime, kube::Api& api, const Step& step,
                        const Transcript& so_far) {
  net::Request request;
  request.method = step.method;
  request.path = fill_in(step.path, so_far);
  request.headers = {{"accept", step.accept}};
  const auto body = body_of(step, so_far);
  if (!body.is_null()) {
    request.headers.emplace_back("content-type", step.content_type);
    request.body = fill_in(json::render(body), so_far);
  }
  if (step.is_watch) co_return co_await read_watch(api, std::move(request), runtime.in(60s));
  CO_TRY(auto answer, co_await call(runtime, api, std::move(request)));
  co_return json::Object{{"status", answer.status},
                         {"warnings", warnings_of(answer.headers)},
                         {"body", parsed_or_text(answer.body)}};
}

Task<Result<Transcript>> play(rt::Runtime runtime, kube::Api& api, const Sequence& sequence) {
  CO_TRY(co_await make_namespace(runtime, api, sequence.ns));
  Transcript transcript;
  for (const auto& step : sequence.steps) {
    CO_TRY(auto reply, co_await ask(runtime, api, step, transcript));
    transcript.push_back(std::move(reply));
  }
  co_return transcript;
}

}  // namespace quorate::conform
