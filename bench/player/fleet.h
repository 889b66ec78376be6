#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "apiserver/server.h"
#include "apiserver/storage.h"
#include "etcd/types.h"
#include "net/tls.h"

namespace quorate::bench {

// All members of all clusters, as far as somebody who asks them can tell: each Pod that runs is a
// voter of the cluster that its annotation names, which has no keys, and is led by its lowest
// ordinal once a quorum runs. Who is asked shows by the Pod's address.
class Fleet {
 public:
  explicit Fleet(apiserver::Server& server);

  struct Member {
    ClusterKey cluster;
    Uid cluster_uid;
    Ordinal ordinal;
    std::string version;        // of its etcd, by the image
    std::set<Ordinal> members;  // of its cluster
  };
  // nullptr if no Pod that runs has this address.
  [[nodiscard]] const Member* find(const std::string& address) const;
  [[nodiscard]] std::size_t size() const { return by_address_.size(); }

  [[nodiscard]] etcd::Header header(const Member& member) const;
  [[nodiscard]] bool has_quorum(const Member& member) const;
  [[nodiscard]] etcd::Status status(const Member& member) const;
  // Of a member that has a quorum.
  [[nodiscard]] etcd::MemberList list(const Member& member) const;

  // What the member's etcd would serve with: the files of the Secret that its Pod mounts. nullptr
  // while that is not there. Kept, as a process would, until the Secret changes.
  [[nodiscard]] std::shared_ptr<net::TlsContext> tls(const std::string& address);

 private:
  struct Context {
    std::int64_t version = 0;  // of the Secret
    std::shared_ptr<net::TlsContext> tls;
  };
  void note(const apiserver::Event& event);

  apiserver::Server& server_;
  std::map<std::string, Member> by_address_;
  std::map<ObjectKey, std::string> address_of_;  // by Pod
  std::map<ClusterKey, std::set<Ordinal>> running_;
  std::map<ObjectKey, Context> contexts_;  // by Secret
  std::shared_ptr<apiserver::Storage::Listener> listener_;
};

}  // namespace quorate::bench
