// A watch that goes on from a moment that a server has forgotten ends with the same word on the
// real API server and on ours.

#include <gtest/gtest.h>

#include "apiserver/storage.h"
#include "conform_kube_run.h"
#include "conform_kube_servers.h"
#include "rt/loop.h"
#include "tests/support/wait.h"

namespace quorate::conform {
namespace {

using namespace std::chrono_literals;

// Our own kinds: the real server begins to remember changes of a kind when the kind is made known,
// and its first version is long past by then.
constexpr const char* kClusters = "/apis/quorate.io/v1alpha1/namespaces/default/etcdclusters";

Reply watch_from_the_first_version(rt::Loop& loop, kube::Api& api) {
  Step step{.method = "GET",
            .path = std::string(kClusters) + "?watch=true&timeoutSeconds=5&resourceVersion=1",
            .body = nullptr,
            .from = {}};
  step.is_watch = true;
  return loop.run(ask(loop.runtime(), api, step, {})).value();
}

// The oldest version that the server remembers, in brackets, is its own business.
std::string masked(const Reply& reply) {
  const auto text = json::render_sorted(reply);
  const auto from = text.find(" (");
  const auto to = text.find(')', from);
  if (from == std::string::npos || to == std::string::npos) return text;
  return text.substr(0, from) + " (<version>" + text.substr(to);
}

TEST(KubeConformance, WatchesFromAForgottenVersionEndAlike) {
  rt::Loop loop;
  RealKube real(loop);
  // A kind that was just made known is answered with 429 until the server has its watch cache.
  Reply theirs;
  support::eventually(60s, "the kind is watched", [&] {
    theirs = watch_from_the_first_version(loop, real.api());
    return support::Look(json::integer_at(theirs, "/status").value_or(0) != 429,
                         json::render(theirs));
  });

  OurKube ours(loop);
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(loop.run(make_namespace(loop.runtime(), ours.api(), name)).has_value());
  ours.server().storage().compact(ours.server().storage().version());
  const auto own = watch_from_the_first_version(loop, ours.api());

  EXPECT_EQ(json::text_or(theirs, "/events/0/object/reason", ""), "Expired")
      << json::render(theirs);
  EXPECT_EQ(masked(own), masked(theirs));
}

}  // namespace
}  // namespace quorate::conform
