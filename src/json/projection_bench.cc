// How fast Pods are read, and what a kept one costs. Pods are those of testing_pods.h.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <map>
#include <string>
#include <vector>

#include "json/projection.h"
#include "json/stream.h"
#include "json/testing_pods.h"

namespace quorate::json {

// About what the operator keeps of a Pod.
struct KeptPod {
  std::string ns, name, uid, resource_version, owner_uid, cluster, phase, node, ip;
  bool ready = false, serving = false;
};

static void read(Reader& in, KeptPod& out) {
  in.fields([&](std::string_view section, Reader& content) {
    if (section == "metadata")
      content.fields([&](std::string_view key, Reader& value) {
        if (key == "namespace")
          out.ns = value.text();
        else if (key == "name")
          out.name = value.text();
        else if (key == "uid")
          out.uid = value.text();
        else if (key == "resourceVersion")
          out.resource_version = value.text();
        else if (key == "labels")
          value.fields([&](std::string_view label, Reader& v) {
            if (label == "quorate.io/cluster")
              out.cluster = v.text();
            else if (label == "quorate.io/serving")
              out.serving = v.text() == "true";
          });
        else if (key == "ownerReferences")
          value.items([&](Reader& owner) {
            owner.fields([&](std::string_view k, Reader& v) {
              if (k == "uid") out.owner_uid = v.text();
            });
          });
      });
    else if (section == "spec")
      content.fields([&](std::string_view key, Reader& value) {
        if (key == "nodeName") out.node = value.text();
      });
    else if (section == "status")
      content.fields([&](std::string_view key, Reader& value) {
        if (key == "phase")
          out.phase = value.text();
        else if (key == "podIP")
          out.ip = value.text();
        else if (key == "containerStatuses")
          value.items([&](Reader& container) {
            container.fields([&](std::string_view k, Reader& v) {
              if (k == "ready") out.ready = v.flag();
            });
          });
      });
  });
}

namespace {

std::vector<std::string> make_pods(int count) {
  std::vector<std::string> pods;
  for (int i = 0; i < count; ++i) {
    pods.push_back(testing_pods::make_pod(i / 3, i % 3));
    pods.back().append(PaddedView::kPadding, ' ');
  }
  return pods;
}

PaddedView padded(const std::string& text) {
  return PaddedView::trust(std::string_view(text).substr(0, text.size() - PaddedView::kPadding));
}

void project_pods(benchmark::State& state) {
  const auto pods = make_pods(300);
  Projector projector;
  std::int64_t bytes = 0;
  for (auto _ : state)
    for (const auto& text : pods) {
      auto pod = project<KeptPod>(projector, padded(text));
      benchmark::DoNotOptimize(pod);
      bytes += static_cast<std::int64_t>(text.size() - PaddedView::kPadding);
    }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(state.iterations() * 300);
  state.counters["pod_bytes"] =
      static_cast<double>(bytes) / static_cast<double>(state.iterations() * 300);
}
BENCHMARK(project_pods)->Unit(benchmark::kMillisecond);

void parse_documents(benchmark::State& state) {
  const auto pods = make_pods(300);
  std::int64_t bytes = 0;
  for (auto _ : state)
    for (const auto& text : pods) {
      auto document = parse(padded(text).text());
      benchmark::DoNotOptimize(document);
      bytes += static_cast<std::int64_t>(text.size() - PaddedView::kPadding);
    }
  state.SetBytesProcessed(bytes);
}
BENCHMARK(parse_documents)->Unit(benchmark::kMillisecond);

// A watch of 300 events in pieces of 16 KiB, as they come from a connection.
void split_watch(benchmark::State& state) {
  std::string stream;
  for (int i = 0; i < 300; ++i)
    stream += R"({"type":"MODIFIED","object":)" + testing_pods::make_pod(i / 3, i % 3) + "}\n";
  Projector projector;
  for (auto _ : state) {
    LineSplitter splitter(1 << 20);
    int seen = 0;
    for (std::size_t at = 0; at < stream.size(); at += 16'384) {
      auto done = splitter.push(std::string_view(stream).substr(at, 16'384), [&](PaddedView line) {
        return projector.read_event(line, [&](std::string_view, Reader& object) {
          KeptPod pod;
          read(object, pod);
          ++seen;
        });
      });
      if (!done) state.SkipWithError(done.error().text().c_str());
    }
    if (seen != 300) state.SkipWithError("events were lost");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
}
BENCHMARK(split_watch)->Unit(benchmark::kMillisecond);

// A page of 500 Pods in pieces of 16 KiB.
void split_list(benchmark::State& state) {
  const auto page = testing_pods::make_pod_list(500);
  Projector projector;
  for (auto _ : state) {
    ListSplitter splitter(1 << 20);
    std::vector<KeptPod> pods;
    for (std::size_t at = 0; at < page.size(); at += 16'384) {
      auto done = splitter.push(std::string_view(page).substr(at, 16'384),
                                [&](PaddedView item) -> Result<void> {
                                  TRY(auto pod, project<KeptPod>(projector, item));
                                  pods.push_back(std::move(pod));
                                  return {};
                                });
      if (!done) state.SkipWithError(done.error().text().c_str());
    }
    if (auto end = splitter.finish(); !end || pods.size() != 500)
      state.SkipWithError("items were lost");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(page.size()));
}
BENCHMARK(split_list)->Unit(benchmark::kMillisecond);

// What 3,000 kept Pods take on the heap, each.
template <class Keep>
void measure_kept(benchmark::State& state, Keep keep) {
  const auto pods = make_pods(3000);
  for (auto _ : state) {
    const auto before = mallinfo2().uordblks;
    auto kept = keep(pods);
    const auto after = mallinfo2().uordblks;
    benchmark::DoNotOptimize(kept);
    state.counters["bytes_per_pod"] = static_cast<double>(after - before) / 3000;
  }
}

void keep_projections(benchmark::State& state) {
  measure_kept(state, [](const std::vector<std::string>& pods) {
    std::vector<KeptPod> kept;
    kept.reserve(pods.size());
    Projector projector;
    for (const auto& text : pods) kept.push_back(*project<KeptPod>(projector, padded(text)));
    return kept;
  });
}
BENCHMARK(keep_projections)->Iterations(1)->Unit(benchmark::kMillisecond);

void keep_documents(benchmark::State& state) {
  measure_kept(state, [](const std::vector<std::string>& pods) {
    std::vector<Value> kept;
    kept.reserve(pods.size());
    for (const auto& text : pods) kept.push_back(*parse(padded(text).text()));
    return kept;
  });
}
BENCHMARK(keep_documents)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace quorate::json

BENCHMARK_MAIN();
