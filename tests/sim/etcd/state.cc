#include "tests/sim/etcd/state.h"

#include <algorithm>

namespace quorate::etcdsim {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

bool writes(const std::vector<etcd::Op>& ops) {
  return std::ranges::any_of(
      ops, [](const etcd::Op& op) { return std::holds_alternative<etcd::PutRequest>(op); });
}

}  // namespace

void ConfState::apply(const ConfChange& change) {
  const MemberId id = change.member.id;
  switch (change.kind) {
    case ConfChange::Kind::kAdd:
    case ConfChange::Kind::kPromote:
      learners.erase(id);
      voters.insert(id);
      return;
    case ConfChange::Kind::kAddLearner:
      if (!voters.contains(id)) learners.insert(id);
      return;
    case ConfChange::Kind::kRemove:
      voters.erase(id);
      learners.erase(id);
      return;
    case ConfChange::Kind::kUpdate:
      return;
  }
}

bool AppliedState::has_alarm(etcd::AlarmKind kind) const {
  return std::ranges::any_of(alarms, [kind](const auto& alarm) { return alarm.kind == kind; });
}

std::optional<etcd::Reason> AppliedState::refused_by_alarm(const Proposal::Body& body) const {
  const bool data = std::holds_alternative<etcd::PutRequest>(body) ||
                    std::holds_alternative<etcd::TxnRequest>(body) ||
                    std::holds_alternative<GrantLease>(body);
  const bool more = std::holds_alternative<etcd::DeleteRequest>(body) ||
                    std::holds_alternative<etcd::CompactRequest>(body) ||
                    std::holds_alternative<RevokeLease>(body);
  if (has_alarm(etcd::AlarmKind::kCorrupt) && (data || more)) return etcd::Reason::kCorrupt;
  if (!has_alarm(etcd::AlarmKind::kNoSpace) || !data) return std::nullopt;
  if (const auto* txn = std::get_if<etcd::TxnRequest>(&body))
    if (!writes(txn->success) && !writes(txn->failure)) return std::nullopt;
  return etcd::Reason::kNoSpace;
}

std::optional<etcd::Reason> AppliedState::lease_missing(const etcd::PutRequest& put) const {
  if (put.lease == etcd::LeaseId() || leases.contains(put.lease)) return std::nullopt;
  return etcd::Reason::kLeaseNotFound;
}

void AppliedState::attach(const std::string& key, etcd::LeaseId lease) {
  for (auto& [id, record] : leases) record.keys.erase(key);
  if (lease != etcd::LeaseId()) leases.at(lease).keys.insert(key);
}

void AppliedState::revoke(etcd::LeaseId lease) {
  Store::Writer writer(kv);
  for (const auto& key : leases.at(lease).keys)
    writer.delete_range({etcd::KeyRange::one(key), false});
  leases.erase(lease);
}

Outcome<ApplyAnswer> AppliedState::apply_txn(const etcd::TxnRequest& txn) {
  etcd::TxnAnswer answer;
  answer.succeeded =
      std::ranges::all_of(txn.compares, [&](const auto& compare) { return kv.holds(compare); });
  const auto& ops = answer.succeeded ? txn.success : txn.failure;
  for (const auto& op : ops) {
    if (const auto* put = std::get_if<etcd::PutRequest>(&op))
      if (auto why = lease_missing(*put)) return Refused(*why);
    if (const auto* range = std::get_if<etcd::RangeRequest>(&op))
      if (auto read = kv.range(*range); !read) return Refused(read.error());
  }
  Store::Writer writer(kv);
  for (const auto& op : ops) {
    std::visit(Overloaded{[&](const etcd::PutRequest& put) {
                            answer.answers.push_back(writer.put(put));
                            attach(put.key, put.lease);
                          },
                          [&](const etcd::DeleteRequest& gone) {
                            answer.answers.push_back(writer.delete_range(gone));
                          },
                          [&](const etcd::RangeRequest& range) {
                            answer.answers.push_back(kv.range(range).value());
                          }},
               op);
  }
  return ApplyAnswer(std::move(answer));
}

Outcome<ApplyAnswer> AppliedState::apply_conf_change(const ConfChange& change, const Version& by) {
  if (auto why = membership.check(change)) return Refused(*why);
  conf.apply(change);
  membership.apply(change);
  if (change.kind == ConfChange::Kind::kPromote && by >= Version{3, 5, 1} && by < Version{3, 5, 26})
    forgotten_promotions.insert(change.member.id);
  return ApplyAnswer(membership.list());
}

Outcome<ApplyAnswer> AppliedState::apply(const Proposal& proposal, const Version& by) {
  if (auto why = refused_by_alarm(proposal.body)) return Refused(*why);
  auto done = [] { return Outcome<ApplyAnswer>(std::monostate()); };
  return std::visit(
      Overloaded{[&](const etcd::PutRequest& put) -> Outcome<ApplyAnswer> {
                   if (auto why = lease_missing(put)) return Refused(*why);
                   attach(put.key, put.lease);
                   return ApplyAnswer(Store::Writer(kv).put(put));
                 },
                 [&](const etcd::DeleteRequest& gone) -> Outcome<ApplyAnswer> {
                   for (auto& [id, record] : leases)
                     std::erase_if(record.keys, [&](const std::string& key) {
                       auto read = kv.range({.range = gone.range, .keys_only = true});
                       return std::ranges::count(read->kvs, key, &etcd::KeyValue::key) > 0;
                     });
                   return ApplyAnswer(Store::Writer(kv).delete_range(gone));
                 },
                 [&](const etcd::TxnRequest& txn) { return apply_txn(txn); },
                 [&](const etcd::CompactRequest& request) -> Outcome<ApplyAnswer> {
                   if (auto why = kv.compact(request.revision)) return Refused(*why);
                   return done();
                 },
                 [&](const GrantLease& grant) -> Outcome<ApplyAnswer> {
                   if (leases.contains(grant.id)) return Refused(etcd::Reason::kLeaseExists);
                   leases[grant.id].ttl = grant.ttl;
                   return done();
                 },
                 [&](const RevokeLease& request) -> Outcome<ApplyAnswer> {
                   if (!leases.contains(request.id)) return Refused(etcd::Reason::kLeaseNotFound);
                   revoke(request.id);
                   return done();
                 },
                 [&](const ChangeAlarm& change) {
                   if (change.action != ChangeAlarm::Action::kGet) std::erase(alarms, change.alarm);
                   if (change.action == ChangeAlarm::Action::kRaise) alarms.push_back(change.alarm);
                   return done();
                 },
                 [&](const AuthChange& change) -> Outcome<ApplyAnswer> {
                   if (auto why = auth.apply(change)) return Refused(*why);
                   return done();
                 },
                 [&](const SetAttributes& set) {
                   membership.set_attributes(set.member, set.name, set.client_urls);
                   return done();
                 },
                 [&](const SetClusterVersion& set) {
                   if (!cluster_minor || *cluster_minor < set.minor) cluster_minor = set.minor;
                   return done();
                 },
                 [&](const AskOldStore&) {
                   if (traits_of(by).refuses_old_store) throw Panic{kOldStoreAsked};
                   return done();
                 },
                 [&](const ConfChange& change) { return apply_conf_change(change, by); }},
      proposal.body);
}

}  // namespace quorate::etcdsim
