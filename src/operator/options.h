#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "kube/budget.h"
#include "kube/lease_timings.h"
#include "plan/rule.h"

namespace quorate::op {

struct ObserverOptions {
  Duration ask_timeout = std::chrono::seconds(4);    // of all questions to one member
  Duration hash_timeout = std::chrono::seconds(20);  // a walk through a whole database
  Duration hash_every = std::chrono::hours(1);       // from one comparison of data to the next
  Duration ask_every = std::chrono::seconds(15);     // at least; a large fleet is asked less often
  double questions_per_second = 200;                 // over the whole fleet, at most
};

struct ExecutorOptions {
  Duration call_timeout = std::chrono::seconds(10);  // of one write; never beyond the lease
  std::size_t at_once = 8;                           // writes of one cluster side by side
  std::chrono::seconds authority_lifetime = std::chrono::hours(24 * 3650);
  std::chrono::seconds leaf_lifetime = std::chrono::hours(24 * 365);
};

struct OperatorOptions {
  std::vector<std::string> namespaces;  // that are managed; empty: all
  std::string selector;                 // of clusters, by their labels; empty: all
  ObjectKey lease{"default", "quorate-operator"};
  std::string identity = "quorate";  // clusters are claimed under it: the same for all replicas
  std::string replica = "quorate-operator";  // this one, for people
  kube::LeaseTimings timings;
  int workers = 16;
  kube::RateLimit kube_limit{200, 400};
  std::string default_version;     // empty: the newest that is known
  std::string default_repository;  // empty: the upstream project's
  std::string launch_image;        // that holds quorate-launch
  std::string cluster_domain;      // in names of certificates; empty: they do without
  ObserverOptions observer;
  ExecutorOptions executor;
  // What decides. Others than the production rules are for tests, which see that a broken one is
  // noticed.
  std::span<const plan::Rule> rules = plan::rules();
};

}  // namespace quorate::op
