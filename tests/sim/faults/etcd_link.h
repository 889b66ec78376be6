#pragma once

#include <string>

#include "etcd/api.h"
#include "tests/sim/faults/link.h"

namespace quorate::sim {

// Passes every call on: for decorators that change a few.
class ForwardingEtcd : public etcd::Api {
 public:
  explicit ForwardingEtcd(etcd::Api& inner) : inner_(inner) {}

  Task<Result<etcd::RangeAnswer>> range(etcd::Target t, etcd::RangeRequest r,
                                        rt::Deadline d) override {
    return inner_.range(std::move(t), std::move(r), d);
  }
  Task<Result<etcd::PutAnswer>> put(etcd::Target t, etcd::PutRequest r, rt::Deadline d) override {
    return inner_.put(std::move(t), std::move(r), d);
  }
  Task<Result<etcd::DeleteAnswer>> delete_range(etcd::Target t, etcd::DeleteRequest r,
                                                rt::Deadline d) override {
    return inner_.delete_range(std::move(t), std::move(r), d);
  }
  Task<Result<etcd::TxnAnswer>> txn(etcd::Target t, etcd::TxnRequest r, rt::Deadline d) override {
    return inner_.txn(std::move(t), std::move(r), d);
  }
  Task<Result<etcd::Header>> compact(etcd::Target t, etcd::CompactRequest r,
                                     rt::Deadline d) override {
    return inner_.compact(std::move(t), std::move(r), d);
  }
  Task<Result<etcd::MemberList>> member_list(etcd::Target t, rt::Deadline d) override {
    return inner_.member_list(std::move(t), d);
  }
  Task<Result<etcd::AddedMember>> add_learner(etcd::Target t, std::vector<std::string> urls,
                                              rt::Deadline d) override {
    return inner_.add_learner(std::move(t), std::move(urls), d);
  }
  Task<Result<etcd::MemberList>> promote_learner(etcd::Target t, MemberId m,
                                                 rt::Deadline d) override {
    return inner_.promote_learner(std::move(t), m, d);
  }
  Task<Result<etcd::MemberList>> remove_member(etcd::Target t, MemberId m,
                                               rt::Deadline d) override {
    return inner_.remove_member(std::move(t), m, d);
  }
  Task<Result<etcd::MemberList>> update_member(etcd::Target t, MemberId m,
                                               std::vector<std::string> urls,
                                               rt::Deadline d) override {
    return inner_.update_member(std::move(t), m, std::move(urls), d);
  }
  Task<Result<void>> greet(etcd::Target t, rt::Deadline d) override {
    return inner_.greet(std::move(t), d);
  }
  Task<Result<etcd::Status>> status(etcd::Target t, rt::Deadline d) override {
    return inner_.status(std::move(t), d);
  }
  Task<Result<std::vector<etcd::Alarm>>> alarms(etcd::Target t, rt::Deadline d) override {
    return inner_.alarms(std::move(t), d);
  }
  Task<Result<void>> disarm(etcd::Target t, etcd::Alarm a, rt::Deadline d) override {
    return inner_.disarm(std::move(t), a, d);
  }
  Task<Result<void>> defragment(etcd::Target t, rt::Deadline d) override {
    return inner_.defragment(std::move(t), d);
  }
  Task<Result<etcd::HashKv>> hash_kv(etcd::Target t, Revision r, rt::Deadline d) override {
    return inner_.hash_kv(std::move(t), r, d);
  }
  Task<Result<void>> move_leader(etcd::Target t, MemberId to, rt::Deadline d) override {
    return inner_.move_leader(std::move(t), to, d);
  }
  Task<Result<std::unique_ptr<etcd::SnapshotStream>>> snapshot(etcd::Target t,
                                                               rt::Deadline d) override {
    return inner_.snapshot(std::move(t), d);
  }
  Task<Result<etcd::Lease>> grant(etcd::Target t, etcd::GrantRequest r, rt::Deadline d) override {
    return inner_.grant(std::move(t), std::move(r), d);
  }
  Task<Result<etcd::Header>> revoke(etcd::Target t, etcd::LeaseId l, rt::Deadline d) override {
    return inner_.revoke(std::move(t), l, d);
  }
  Task<Result<etcd::Lease>> keep_alive(etcd::Target t, etcd::LeaseId l, rt::Deadline d) override {
    return inner_.keep_alive(std::move(t), l, d);
  }
  Task<Result<etcd::Lease>> time_to_live(etcd::Target t, etcd::LeaseId l, bool keys,
                                         rt::Deadline d) override {
    return inner_.time_to_live(std::move(t), l, keys, d);
  }
  Task<Result<std::unique_ptr<etcd::Watch>>> watch(etcd::Target t, etcd::WatchRequest r,
                                                   rt::Deadline d) override {
    return inner_.watch(std::move(t), std::move(r), d);
  }

 protected:
  etcd::Api& inner_;
};

// The way from one operator replica to its members: every call that changes a cluster is a side
// effect with a number, as writes to the API server are, and stands in the audit log.
class EtcdLink final : public ForwardingEtcd {
 public:
  // The Lease is looked up in `server`.
  EtcdLink(rt::Runtime here, std::string actor, etcd::Api& inner, apiserver::Server& server,
           Judge& judge, Audit& audit)
      : ForwardingEtcd(inner),
        here_(here),
        actor_(std::move(actor)),
        server_(server),
        judge_(judge),
        audit_(audit) {}

  Task<Result<etcd::MemberList>> member_list(etcd::Target t, rt::Deadline d) override;
  Task<Result<etcd::AddedMember>> add_learner(etcd::Target t, std::vector<std::string> urls,
                                              rt::Deadline d) override;
  Task<Result<etcd::MemberList>> promote_learner(etcd::Target t, MemberId m,
                                                 rt::Deadline d) override;
  Task<Result<etcd::MemberList>> remove_member(etcd::Target t, MemberId m, rt::Deadline d) override;
  Task<Result<etcd::MemberList>> update_member(etcd::Target t, MemberId m,
                                               std::vector<std::string> urls,
                                               rt::Deadline d) override;
  Task<Result<void>> disarm(etcd::Target t, etcd::Alarm a, rt::Deadline d) override;
  Task<Result<void>> defragment(etcd::Target t, rt::Deadline d) override;
  Task<Result<void>> move_leader(etcd::Target t, MemberId to, rt::Deadline d) override;
  Task<Result<etcd::Header>> compact(etcd::Target t, etcd::CompactRequest r,
                                     rt::Deadline d) override;

 private:
  // `call` has not begun yet.
  template <class Answer>
  Task<Result<Answer>> change(Audit::Change entry, Task<Result<Answer>> call, rt::Deadline d);
  Audit::Change entry(std::string operation, const etcd::Target& target, MemberId member) const;

  rt::Runtime here_;
  std::string actor_;
  apiserver::Server& server_;
  Judge& judge_;
  Audit& audit_;
};

}  // namespace quorate::sim
