#include "operator/counted_api.h"

#include "base/strings.h"
#include "kube/status.h"

namespace quorate::op {
namespace {

std::string code_of(const net::Response& answer) {
  const bool terminating = answer.status == 403 && kube::is_namespace_terminating(kube::to_error(
                                                       answer, kube::Effect::kWrite));
  return terminating ? std::string(kTerminating) : std::to_string(answer.status);
}

}  // namespace

void RequestCounts::add(Kind kind, Duration took) {
  took_[kind.verb].add(took);
  ++by_kind_[std::move(kind)];
}

// /api/v1/namespaces/n/pods/c-0/status, /apis/policy/v1/poddisruptionbudgets
std::string resource_in(std::string_view path) {
  path = path.substr(0, path.find('?'));
  const auto parts = split(path.substr(path.starts_with('/')), '/');
  std::size_t at = 0;
  if (parts[0] == "api")
    at = 2;
  else if (parts[0] == "apis")
    at = 3;
  if (at == 0 || at >= parts.size()) return "";
  if (parts[at] == "namespaces" && at + 2 < parts.size()) at += 2;
  std::string out(parts[at]);
  if (at + 2 < parts.size()) out += "/" + std::string(parts[at + 2]);
  return out;
}

std::string_view verb_of(const net::Request& request, bool streams) {
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return "delete";
  if (!streams) return "get";
  const auto query = request.path.find('?');
  const bool watches =
      query != std::string::npos && request.path.find("watch=", query) != std::string::npos;
  return watches ? "watch" : "list";
}

Task<Result<net::Response>> CountedApi::call(net::Request request, rt::Deadline deadline,
                                             std::size_t limit) {
  RequestCounts::Kind kind{std::string(verb_of(request, false)), resource_in(request.path),
                           std::string(kNoAnswer)};
  const auto began = runtime_.clock->now();
  auto answer = co_await inner_.call(std::move(request), deadline, limit);
  if (answer) kind.code = code_of(*answer);
  counts_.add(std::move(kind), runtime_.clock->now() - began);
  co_return answer;
}

Task<Result<std::unique_ptr<net::ResponseStream>>> CountedApi::open(net::Request request,
                                                                    rt::Deadline deadline) {
  RequestCounts::Kind kind{std::string(verb_of(request, true)), resource_in(request.path),
                           std::string(kNoAnswer)};
  const auto began = runtime_.clock->now();
  auto stream = co_await inner_.open(std::move(request), deadline);
  if (stream) kind.code = std::to_string((*stream)->status());
  counts_.add(std::move(kind), runtime_.clock->now() - began);
  co_return stream;
}

}  // namespace quorate::op
