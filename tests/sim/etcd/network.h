#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "rt/clock.h"

namespace quorate::etcdsim {

// Who can reach whom. A site is a place on the network: a Pod, a machine, an operator replica.
// Everybody reaches everybody until told otherwise; a site always reaches itself.
class Network {
 public:
  struct Options {
    Duration least = std::chrono::microseconds(100);  // one way
    Duration most = std::chrono::microseconds(500);
  };
  Network(rt::Random& random, Options options) : random_(random), options_(options) {}

  void cut(const std::string& a, const std::string& b);
  void cut_one_way(const std::string& from, const std::string& to);
  void isolate(const std::string& site);  // from everybody else
  void heal(const std::string& a, const std::string& b);
  void heal(const std::string& site);  // all that `isolate` and `cut` did to it
  void heal_all();
  // Beside the ordinary delay.
  void set_delay(const std::string& from, const std::string& to, Duration extra);
  // Out of a thousand messages, so many are lost.
  void set_loss(const std::string& from, const std::string& to, unsigned per_mille);
  // The next answers to calls from `client` at `server` do not arrive; the calls are carried out.
  void lose_answers(const std::string& client, const std::string& server, int count);

  bool open(const std::string& from, const std::string& to) const;
  bool open_both_ways(const std::string& a, const std::string& b) const {
    return open(a, b) && open(b, a);
  }
  // Draws. Whether this message arrives, and after how long.
  bool delivers(const std::string& from, const std::string& to);
  Duration latency(const std::string& from, const std::string& to);
  bool takes_answer(const std::string& client, const std::string& server);

  std::function<void()> on_change;

 private:
  using Pair = std::pair<std::string, std::string>;
  void changed() const;

  rt::Random& random_;
  Options options_;
  std::set<Pair> cuts_;  // from, to
  std::set<std::string> isolated_;
  std::map<Pair, Duration> delays_;
  std::map<Pair, unsigned> losses_;
  std::map<Pair, int> lost_answers_;
};

}  // namespace quorate::etcdsim
