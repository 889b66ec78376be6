#pragma once

#include <compare>
#include <map>
#include <string>

#include "kube/api.h"
#include "operator/histogram.h"
#include "rt/clock.h"

namespace quorate::op {

// What was asked of the Kubernetes API, as metrics show it. As many series as there are verbs,
// resources of ours and kinds of answers: never one for a name or a namespace.
class RequestCounts {
 public:
  struct Kind {
    std::string verb;      // as in RBAC: get, list, watch, create, update, patch, delete
    std::string resource;  // pods, etcdclusters/status; empty if it is none
    std::string code;      // of HTTP; or one of the words below
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  void add(Kind kind, Duration took);
  [[nodiscard]] const std::map<Kind, std::uint64_t>& by_kind() const { return by_kind_; }
  // By verb. Of a watch, until the server has accepted it.
  [[nodiscard]] const std::map<std::string, Histogram>& took() const { return took_; }

 private:
  std::map<Kind, std::uint64_t> by_kind_;
  std::map<std::string, Histogram> took_;
};

// In the place of a code: no answer came; 403 because the namespace is being deleted, which is no
// lack of rights.
inline constexpr std::string_view kNoAnswer = "none";
inline constexpr std::string_view kTerminating = "terminating";

// The resource in a path, with its subresource and without names: "etcdclusters/status".
[[nodiscard]] std::string resource_in(std::string_view path);
// The verb, as RBAC has it. `streams`: the answer is read piece by piece, as lists and watches are.
[[nodiscard]] std::string_view verb_of(const net::Request& request, bool streams);

// Passes everything on, and counts it.
class CountedApi final : public kube::Api {
 public:
  // Both outlive it.
  CountedApi(rt::Runtime runtime, kube::Api& inner, RequestCounts& counts)
      : runtime_(runtime), inner_(inner), counts_(counts) {}

  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;

 private:
  rt::Runtime runtime_;
  kube::Api& inner_;
  RequestCounts& counts_;
};

}  // namespace quorate::op
