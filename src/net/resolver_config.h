#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "net/address.h"

namespace quorate::net {

// How this machine looks up names: resolv.conf and hosts. What cannot be read in them is passed
// over, as every resolver does.
struct ResolverConfig {
  std::vector<Address> servers;
  std::vector<std::string> search;
  int ndots = 1;  // names with fewer dots are tried with the search list first
  Duration timeout = std::chrono::seconds(5);  // of one question to one server
  int attempts = 2;                            // rounds over all servers
  std::multimap<std::string, Address> hosts;   // by lower-case name

  // Reads /etc/resolv.conf and /etc/hosts anew: they change under a running program.
  [[nodiscard]] static ResolverConfig of_this_machine();

  void add_resolv_conf(std::string_view text);
  void add_hosts(std::string_view text);

  // The full names to ask for, in order. A final dot in `host` says that it is one already.
  [[nodiscard]] std::vector<std::string> candidates(std::string_view host) const;
};

}  // namespace quorate::net
