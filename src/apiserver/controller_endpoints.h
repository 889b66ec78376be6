#pragma once

#include "apiserver/controller.h"

namespace quorate::apiserver {

// Keeps one EndpointSlice for each Service that selects Pods: the addresses of its Pods, whether
// they are ready, serving and terminating, and where the Service's ports lead.
class EndpointController : public Controller {
 public:
  EndpointController(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;
  void mark_services_of(const std::string& ns, const json::Value& pod);
  json::Array make_endpoints(const json::Value& service, const std::string& ns, json::Array& ports);
  void write(const json::Value& service, const std::string& ns, json::Value slice);
};

}  // namespace quorate::apiserver
