#pragma once

#include <vector>

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Binds claims to volumes, makes volumes for classes that provision, reclaims them when their claim
// is gone, lets claims grow where their class allows it, and keeps what is in use.
//
// A class with `volumeBindingMode: WaitForFirstConsumer` waits for the scheduler to choose a node
// and gives volumes that belong to it, unless its parameter `movable` is "true"; a class that binds
// at once gives volumes that can be attached anywhere.
class VolumeController : public Controller {
 public:
  // `provisions`: it plays the provisioner of every class. Otherwise it binds alone, as in a
  // cluster whose volumes are made, grown and deleted by a provisioner of their own.
  VolumeController(rt::Runtime runtime, Verbs& verbs, bool provisions);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;

  void reconcile_claim(const WorkKey& work, json::Value claim);
  void reconcile_volume(const WorkKey& work, json::Value volume);
  void bind(const WorkKey& work, json::Value claim, const std::string& volume);
  void keep_bound(const WorkKey& work, json::Value claim, json::Value volume);
  void grow(const json::Value& claim, json::Value& volume);
  std::optional<std::string> find_volume(const json::Value& claim);
  std::optional<std::string> provision(const json::Value& claim);
  bool is_claim_used(const ObjectKey& key);
  Decoded class_of(const json::Value& object);
  void set_phase(const WorkKey& work, json::Value volume, std::string_view phase);

  bool provisions_;
  std::set<WorkKey> pending_;  // claims without a volume
};

}  // namespace quorate::apiserver
