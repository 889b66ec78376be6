#include "tests/sim/etcd/network.h"

namespace quorate::etcdsim {

void Network::changed() const {
  if (on_change) on_change();
}

void Network::cut(const std::string& a, const std::string& b) {
  cuts_.insert({a, b});
  cuts_.insert({b, a});
  changed();
}

void Network::cut_one_way(const std::string& from, const std::string& to) {
  cuts_.insert({from, to});
  changed();
}

void Network::isolate(const std::string& site) {
  isolated_.insert(site);
  changed();
}

void Network::heal(const std::string& a, const std::string& b) {
  cuts_.erase({a, b});
  cuts_.erase({b, a});
  changed();
}

void Network::heal(const std::string& site) {
  isolated_.erase(site);
  std::erase_if(cuts_, [&](const Pair& pair) { return pair.first == site || pair.second == site; });
  changed();
}

void Network::heal_all() {
  cuts_.clear();
  isolated_.clear();
  delays_.clear();
  losses_.clear();
  lost_answers_.clear();
  changed();
}

void Network::set_delay(const std::string& from, const std::string& to, Duration extra) {
  delays_[{from, to}] = extra;
}

void Network::set_loss(const std::string& from, const std::string& to, unsigned per_mille) {
  losses_[{from, to}] = per_mille;
}

void Network::lose_answers(const std::string& client, const std::string& server, int count) {
  lost_answers_[{client, server}] = count;
}

bool Network::open(const std::string& from, const std::string& to) const {
  if (from == to || (isolated_.empty() && cuts_.empty())) return true;
  return !isolated_.contains(from) && !isolated_.contains(to) && !cuts_.contains({from, to});
}

bool Network::delivers(const std::string& from, const std::string& to) {
  if (!open(from, to)) return false;
  if (losses_.empty()) return true;
  auto loss = losses_.find({from, to});
  return loss == losses_.end() || random_.below(1000) >= loss->second;
}

Duration Network::latency(const std::string& from, const std::string& to) {
  const auto spread = static_cast<std::uint64_t>((options_.most - options_.least).count());
  Duration time = options_.least + Duration(random_.below(spread + 1));
  if (delays_.empty()) return time;
  auto extra = delays_.find({from, to});
  return extra == delays_.end() ? time : time + extra->second;
}

bool Network::takes_answer(const std::string& client, const std::string& server) {
  auto lost = lost_answers_.find({client, server});
  if (lost == lost_answers_.end()) return true;
  if (--lost->second <= 0) lost_answers_.erase(lost);
  return false;
}

}  // namespace quorate::etcdsim
