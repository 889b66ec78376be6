// The in-memory Kubernetes API held to the real one: the same sequences of requests, answer by
// answer, with what is stored and what watches tell.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "api/crd.h"
#include "apiserver/server.h"
#include "conform_kube_known.h"
#include "conform_kube_run.h"
#include "conform_kube_sequence.h"
#include "kube/http_api.h"
#include "kube/kubeconfig.h"
#include "rt/group.h"
#include "rt/loop.h"
#include "tests/sim/kube_link.h"
#include "tests/support/kube_fixture.h"

namespace quorate::conform {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSequences = 1000;
// The share of sequences that agree to the last byte today. It only ever rises: what is above it is
// printed, to be mended or listed in docs/apiserver.md, until it is all of them.
constexpr std::size_t kAgreeingPercent = 40;
constexpr std::size_t kSideBySide = 24;  // each ends with a watch of a second

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Task<Result<std::vector<Result<Transcript>>>> play_all(rt::Runtime runtime, kube::Api& api,
                                                       const std::vector<Sequence>& sequences) {
  std::vector<Task<Result<Transcript>>> work;
  for (const auto& sequence : sequences) work.push_back(play(runtime, api, sequence));
  co_return co_await rt::all(runtime, std::move(work), kSideBySide);
}

// Both servers, with our kinds, on one loop in real time.
class Conformance : public ::testing::Test {
 protected:
  Conformance() {
    for (const auto& file : api::render_crds()) {
      kube_.apply(file.text);
      const auto installed = server_.install_crd(file.text);
      if (!installed) throw std::runtime_error(installed.error().text());
    }
    kube_.kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
    auto config = kube::load_kubeconfig(kube_.admin_kubeconfig());
    real_ = std::move(
        *kube::HttpApi::make(loop_.runtime(), std::move(*config), {.user_agent = "quorate/test"}));
  }
  ~Conformance() override { loop_.run(real_->close()); }

  std::vector<Result<Transcript>> play_on(kube::Api& api, const std::vector<Sequence>& sequences) {
    return std::move(*loop_.run(play_all(loop_.runtime(), api, sequences)));
  }

  support::KubeCluster kube_;
  rt::Loop loop_;
  apiserver::Server server_{loop_.runtime(), {}};
  std::unique_ptr<kube::HttpApi> real_;
  sim::KubeLink ours_{loop_.runtime(), server_};
};

// Mismatches that look alike, with one of them in full.
struct Complaint {
  int count = 0;
  std::string example;
};

std::string describe(const Sequence& sequence, std::size_t step, const Reply& real,
                     const Reply& ours) {
  std::string text = fmt::format("seed {}:\n", sequence.seed);
  for (std::size_t i = 0; i <= step; ++i)
    text += fmt::format("  {:2} {}\n", i, sequence.steps[i].text());
  for (const auto& pointer : differences(real, ours, 8)) {
    const auto show = [&](const Reply& reply) {
      const auto* value = json::find(reply, pointer);
      return value ? json::render(*value).substr(0, 700) : std::string("(absent)");
    };
    text += fmt::format("  {}\n    real {}\n    ours {}\n", pointer, show(real), show(ours));
  }
  if (real.at("status") != ours.at("status"))
    text += fmt::format("    real answer {}\n    our answer {}\n",
                        json::render_sorted(real).substr(0, 700),
                        json::render_sorted(ours).substr(0, 700));
  return text;
}

TEST_F(Conformance, AnswersObjectsAndWatchesAreThoseOfTheRealServer) {
  const auto count = number_from("QUORATE_CONFORM_SEQUENCES", kSequences);
  const auto first = number_from("QUORATE_CONFORM_SEED", 1);
  std::vector<Sequence> sequences;
  for (auto seed = first; seed < first + count; ++seed) sequences.push_back(make_sequence(seed));
  auto known = read_known_differences(read_file(QUORATE_SOURCE_DIR "/docs/apiserver.md"));

  const auto theirs = play_on(*real_, sequences);
  const auto ours = play_on(ours_, sequences);

  std::map<std::string, Complaint> complaints;
  std::size_t steps = 0, agreed = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    ASSERT_TRUE(theirs[i]) << theirs[i].error().text();
    ASSERT_TRUE(ours[i]) << ours[i].error().text();
    const auto real = mask(*theirs[i]), own = mask(*ours[i]);
    bool same = true;
    for (std::size_t step = 0; step < real.size() && same; ++step, ++steps) {
      const auto& asked = sequences[i].steps[step];
      same = agree(asked.method + " " + asked.path, real[step], own[step], known);
      if (same) continue;
      const auto places = differences(real[step], own[step], 1);
      auto& complaint =
          complaints[fmt::format("{} {} {} at {}", sequences[i].kind, asked.method,
                                 asked.content_type, places.empty() ? "" : places[0])];
      if (complaint.count++ == 0)
        complaint.example = describe(sequences[i], step, real[step], own[step]);
    }
    agreed += same;
  }
  std::cout << fmt::format("conformance: {} of {} sequences agree, {} steps compared\n", agreed,
                           sequences.size(), steps);
  std::vector<std::pair<std::string, Complaint>> sorted(complaints.begin(), complaints.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::size_t shown = 0;
  for (const auto& [what, complaint] : sorted)
    if (shown++ < number_from("QUORATE_CONFORM_SHOWN", 12))
      std::cout << complaint.count << " times: " << what << "\n" << complaint.example;
  EXPECT_GE(agreed * 100, sequences.size() * kAgreeingPercent);
  if (count >= kSequences)
    for (const auto& difference : known)
      EXPECT_GT(difference.used, 0) << difference.id << " is listed but was not seen: is it so?";
}

}  // namespace
}  // namespace quorate::conform
