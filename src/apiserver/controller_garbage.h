#pragma once

#include <map>
#include <set>
#include <string>

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Deletes what nobody owns any more. An object whose owners are all gone (by UID: another object of
// the same name is somebody else) goes; owners that are gone are struck from one that has others.
// An owner that is deleted in the foreground waits until its dependents that block it are gone; one
// that is orphaned is struck from all of its dependents first.
class GarbageCollector : public Controller {
 public:
  GarbageCollector(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;

  enum class Owner { kThere, kGone, kWaiting, kUnknown };
  Owner look_up(const json::Value& owner, const WorkKey& dependent);
  // Looks whether a dependent has lost its owners.
  void judge(const WorkKey& work, const json::Value& object);
  void strike(const WorkKey& work, json::Value object, const std::set<std::string>& uids);
  // Ends the deletion of an owner: orphans its dependents, or waits for them.
  void orphan_dependents(const WorkKey& work, json::Value object);
  void await_dependents(const WorkKey& work, json::Value object);
  std::set<WorkKey> dependents_of(const std::string& uid) const;
  std::optional<WorkKey> find_by_uid(const std::string& uid) const;

  // Indexes of what is stored, rebuilt at every start: who names an owner, by the owner's UID; whom
  // an object names; who has a UID.
  std::map<std::string, std::set<WorkKey>> dependents_;
  std::map<WorkKey, std::set<std::string>> owners_;
  std::map<std::string, WorkKey> by_uid_;
};

}  // namespace quorate::apiserver
