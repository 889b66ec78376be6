#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "json/document.h"
#include "kube/api.h"
#include "tests/sim/etcd/api.h"
#include "tests/sim/faults/etcd_link.h"
#include "tests/sim/world.h"

// What mutants put between an operator and the world. What an Apply makes is made anew for every
// world, so that runs do not know of each other.
namespace quorate::sim {

using Apply = std::function<void(WorldOptions&)>;

// Requests of this method, or of these (`POST PATCH`), whose path has this text in it, are changed
// before they are sent.
using EditRequest = std::function<void(net::Request& request)>;
[[nodiscard]] Apply edits(std::string method, std::string in_path, EditRequest edit);
// Their JSON bodies.
using EditBody = std::function<void(json::Value& body)>;
[[nodiscard]] Apply edits_body(std::string method, std::string in_path, EditBody edit);
// They are answered by this, and not sent.
using Answer = std::function<Result<net::Response>(const net::Request& request)>;
[[nodiscard]] Apply answers_itself(std::function<bool(const net::Request& request)> which,
                                   Answer answer);
[[nodiscard]] Apply decides(std::span<const plan::Rule> rules);
[[nodiscard]] Apply both(Apply one, Apply other);

void set(json::Value& body, std::string_view pointer, json::Value content);
[[nodiscard]] std::string name_in(const json::Value& body);

// ---- Mutants that need more than an edit ----

// These ask more of a member that has just answered, a minute after the first ever did.
[[nodiscard]] Apply adds_a_voter();
[[nodiscard]] Apply removes_who_answers();
[[nodiscard]] Apply adds_two_at_once();

[[nodiscard]] Apply adds_again_without_an_answer();
// And adds it then, whatever has become of its lease.
[[nodiscard]] Apply thinks_before_it_adds();
// No alarm, and no difference between members.
[[nodiscard]] Apply hears_no_doubt();
// As each endpoint told them first.
[[nodiscard]] Apply remembers_members();

[[nodiscard]] Apply ignores_its_lease();
[[nodiscard]] Apply takes_lost_replies_for_failures();
// The last patch of a Pod, whenever a member was asked for its status.
[[nodiscard]] Apply says_it_again();
// When a Pod's label is set a fourth time.
[[nodiscard]] Apply deletes_pods(const std::vector<std::string>& names);
// When status says that the cluster is not available any more.
[[nodiscard]] Apply deletes_a_volume_in_need();
// Of the first member, when its Pod is deleted.
[[nodiscard]] Apply deletes_a_volume_with_its_pod();
[[nodiscard]] Apply stands_still_at(std::string text, Duration time);

}  // namespace quorate::sim
