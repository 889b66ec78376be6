#include "conform_kube_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "base/strings.h"

namespace quorate::conform {

namespace {

using namespace std::chrono_literals;

// `${3:/metadata/uid}` by what answer 3 holds there.
std::string fill_in(std::string text, const Transcript& answers) {
  static const std::regex kPlace(R"(\$\{(\d+):([^}]*)\})");
  std::smatch match;
  while (std::regex_search(text, match, kPlace)) {
    const auto step = static_cast<std::size_t>(std::stoul(match[1]));
    std::string value = "none";
    if (step < answers.size())
      value = json::text_or(answers[step], "/body" + match[2].str(), "none");
    text = match.prefix().str() + value + match.suffix().str();
  }
  return text;
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

Task<Result<Reply>> ask(rt::Runtime runtime, kube::Api& api, Step step, Transcript so_far) {
  net::Request request;
  request.method = step.method;
  request.path = fill_in(step.path, so_far);
  request.headers = {{"accept", "application/json"}};
  const auto body = body_of(step, so_far);
  if (!body.is_null()) {
    request.headers.emplace_back("content-type", step.content_type);
    request.body = fill_in(json::render(body), so_far);
  }
  if (step.is_watch) co_return co_await read_watch(api, std::move(request), runtime.in(60s));
  CO_TRY(auto answer, co_await api.call(std::move(request), runtime.in(60s)));
  co_return json::Object{{"status", answer.status},
                         {"warnings", warnings_of(answer.headers)},
                         {"body", parsed_or_text(answer.body)}};
}

// --- masking

void each_object(json::Value& value, const std::function<void(json::Object&)>& visit) {
  if (auto* object = value.if_object()) {
    visit(*object);
    for (auto& [key, member] : *object) each_object(member, visit);
  } else if (auto* array = value.if_array()) {
    for (auto& element : *array) each_object(element, visit);
  }
}

bool before(const json::Value& a, const json::Value& b) {
  const auto key = [](const json::Value& entry) {
    return fmt::format(
        "{} {} {} {}", json::text_or(entry, "/manager", ""), json::text_or(entry, "/operation", ""),
        json::text_or(entry, "/subresource", ""), json::text_or(entry, "/apiVersion", ""));
  };
  return key(a) < key(b);
}

// The version of a list or of a bookmark moves with whatever else the server does; managers are
// sorted by the second in which they wrote; a cause that is found twice is named twice.
void make_comparable(json::Value& reply) {
  each_object(reply, [](json::Object& object) {
    const json::Value view(object);
    if (json::text_or(view, "/type", "") == "BOOKMARK") object["object"] = nullptr;
    if (auto* managers = object.if_contains("managedFields"); managers && managers->is_array())
      std::stable_sort(managers->get_array().begin(), managers->get_array().end(), before);
    if (auto* causes = object.if_contains("causes"); causes && causes->is_array()) {
      json::Array once;
      for (const auto& cause : causes->get_array())
        if (std::find(once.begin(), once.end(), cause) == once.end()) once.push_back(cause);
      *causes = std::move(once);
    }
    auto* metadata = object.if_contains("metadata");
    const bool is_list = json::text_or(view, "/kind", "").ends_with("List");
    if (!is_list || !metadata || !metadata->is_object()) return;
    metadata->get_object()["resourceVersion"] = "<list>";
    auto* token = metadata->get_object().if_contains("continue");
    if (token && *token != "") *token = "<token>";
  });
}

std::string replace_all(const std::string& text, const std::regex& pattern,
                        const std::function<std::string(const std::smatch&)>& by) {
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    out.append(from, text.cbegin() + match->position());
    out += by(*match);
    from = text.cbegin() + match->position() + match->length();
  }
  return out.append(from, text.cend());
}

const std::regex kVersion(R"re("resourceVersion":"(\d+)")re");
const std::regex kUid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}");
const std::regex kTime(R"(20(2[1-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
const std::regex kAddress(R"(198\.19\.\d+\.\d+)");
const std::regex kGenerated("gen-[a-z0-9]{5}");
const std::regex kRecord(R"(in record \((\d+)\))");

}  // namespace

Task<Result<Transcript>> play(rt::Runtime runtime, kube::Api& api, const Sequence& sequence) {
  net::Request make_namespace{"POST", "/api/v1/namespaces", {}, ""};
  make_namespace.headers = {{"content-type", "application/json"}};
  make_namespace.body =
      json::render({{"metadata", {{"name", sequence.ns}, {"labels", {{"for", "conform"}}}}}});
  CO_TRY(auto made, co_await api.call(std::move(make_namespace), runtime.in(60s)));
  if (made.status != 201)
    co_return fail(Code::kInternal, fmt::format("namespace {}: {}", sequence.ns, made.body));
  Transcript transcript;
  for (const auto& step : sequence.steps) {
    CO_TRY(auto reply, co_await ask(runtime, api, step, transcript));
    transcript.push_back(std::move(reply));
  }
  co_return transcript;
}

Transcript mask(const Transcript& transcript) {
  std::map<std::string, std::string> names;
  const auto number = [&](const std::string& kind, const std::string& text) {
    const auto [at, fresh] = names.emplace(kind + text, "");
    if (fresh) at->second = fmt::format("<{} {}>", kind, names.size());
    return at->second;
  };
  Transcript masked;
  for (auto reply : transcript) {
    make_comparable(reply);
    auto text = json::render_sorted(reply);
    text = replace_all(text, kVersion, [&](const std::smatch& match) {
      return fmt::format(R"("resourceVersion":"{}")", number("version", match[1]));
    });
    text = replace_all(text, kRecord, [&](const std::smatch& match) {
      return fmt::format("in record ({})", number("version", match[1]));
    });
    text =
        replace_all(text, kUid, [&](const std::smatch& match) { return number("uid", match[0]); });
    text = replace_all(text, kGenerated,
                       [&](const std::smatch& match) { return number("name", match[0]); });
    text = std::regex_replace(text, kTime, "<time>");
    text = std::regex_replace(text, kAddress, "<address>");
    masked.push_back(json::parse(text).value());
  }
  return masked;
}

namespace {

void collect(const json::Value& a, const json::Value& b, const std::string& at, std::size_t most,
             std::vector<std::string>& out) {
  if (out.size() >= most || json::equal(a, b)) return;
  if (a.is_object() && b.is_object()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : a.get_object()) keys.insert(std::string(key));
    for (const auto& [key, value] : b.get_object()) keys.insert(std::string(key));
    static const json::Value nothing;
    for (const auto& key : keys) {
      const auto* left = a.get_object().if_contains(key);
      const auto* right = b.get_object().if_contains(key);
      const auto pointer = at + "/" + json::escape_pointer(key);
      if (left && right)
        collect(*left, *right, pointer, most, out);
      else if (out.size() < most)
        out.push_back(pointer);
    }
    return;
  }
  if (a.is_array() && b.is_array() && a.get_array().size() == b.get_array().size()) {
    for (std::size_t i = 0; i < a.get_array().size(); ++i)
      collect(a.get_array()[i], b.get_array()[i], fmt::format("{}/{}", at, i), most, out);
    return;
  }
  out.push_back(at);
}

}  // namespace

std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most) {
  std::vector<std::string> out;
  collect(a, b, "", most, out);
  return out;
}

}  // namespace quorate::conform
