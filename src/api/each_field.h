#pragma once

#include "api/cluster_fields.h"
#include "api/member_fields.h"
#include "api/version.h"

// The members of a described type, each offered to a visitor by reference: for whoever keeps values
// in a form of their own. The order is that of the description.
namespace quorate::api {

template <class T, class Visit>
class FieldOffer {
 public:
  FieldOffer(T& value, Visit& visit) : value_(value), visit_(visit) {}

  void type(std::string_view) {}
  void rule(const CelRule&) {}
  template <class F>
  void field(const About&, F T::*member) {
    visit_(value_.*member);
  }
  template <class F>
  void flat(F T::*member) {
    visit_(value_.*member);
  }

 private:
  T& value_;
  Visit& visit_;
};

template <Described T, class Visit>
void each_field(Visit& visit, T& value) {
  FieldOffer<T, Visit> offer(value, visit);
  describe(offer, static_cast<const T*>(nullptr));
}

template <class Visit>
void each_field(Visit& visit, EtcdVersion& version) {
  auto& [major, minor, patch] = version;
  visit(major, minor, patch);
}

}  // namespace quorate::api
