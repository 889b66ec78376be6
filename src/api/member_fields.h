#pragma once

#include "api/cluster_fields.h"
#include "api/member.h"

// EtcdMember, field by field: the one description of it.
namespace quorate::api {

template <class Visitor>
void describe(Visitor& visit, const Formation*) {
  visit.type("The attempt to form the cluster that the member was made for.");
  visit.field({.name = "number",
               .text = "1, and one more for each attempt that was given up.",
               .required = true,
               .minimum = 1},
              &Formation::number);
  visit.field({.name = "firstOrdinal",
               .text = "The lowest ordinal of its members.",
               .required = true,
               .minimum = 0},
              &Formation::first);
  visit.field({.name = "size", .text = "How many members it has.", .required = true, .minimum = 1},
              &Formation::size);
}

template <class Visitor>
void describe(Visitor& visit, const RaftFloor*) {
  visit.type("How far the member's log went at least.");
  visit.field({.name = "index",
               .text = "The highest entry that the member said it had applied.",
               .required = true,
               .minimum = 1},
              &RaftFloor::index);
  visit.field({.name = "noted", .text = "When that was written down.", .required = true},
              &RaftFloor::noted);
  visit.field({.name = "voters",
               .text = "How many voters its log knew by then; absent: those who formed the "
                       "cluster.",
               .minimum = 0},
              &RaftFloor::voters);
}

template <class Visitor>
void describe(Visitor& visit, const Identity*) {
  visit.field({.name = "clusterUID",
               .text = "UID of the EtcdCluster.",
               .required = true,
               .rule = &kUidRule},
              &Identity::cluster_uid);
  visit.field({.name = "ordinal",
               .text = "The number in its name; never used twice.",
               .required = true,
               .minimum = 0},
              &Identity::ordinal);
  visit.field(
      {.name = "incarnation", .text = "Of its data directory.", .required = true, .minimum = 1},
      &Identity::incarnation);
  visit.field({.name = "formation",
               .text = "The attempt to form the cluster that it was made for.",
               .required = true},
              &Identity::formation);
  visit.field({.name = "clusterID", .text = "etcd's ID of the cluster, once it has formed."},
              &Identity::cluster_id);
  visit.field({.name = "memberID", .text = "etcd's ID of the member, once it is known."},
              &Identity::member_id);
  visit.field(
      {.name = "started", .text = "It was seen as this member, with data that it must not lose."},
      &Identity::started);
  visit.field({.name = "removed",
               .text = "It has left the cluster: its Pod goes, then its volume as "
                       "`storage.retention.whenScaled` says, then this record."},
              &Identity::removed);
  visit.field({.name = "raftFloor",
               .text = "How far its log went at least: on data that ends below it, it is not "
                       "started."},
              &Identity::raft_floor);
}

inline constexpr std::array kMemberRules{
    CelRule{"self.clusterName == oldSelf.clusterName && self.clusterUID == oldSelf.clusterUID && "
            "self.ordinal == oldSelf.ordinal && self.incarnation == oldSelf.incarnation && "
            "self.formation == oldSelf.formation && self.peerURL == oldSelf.peerURL",
            "who a member is, is written once"},
    CelRule{"!has(oldSelf.clusterID) || (has(self.clusterID) && self.clusterID == "
            "oldSelf.clusterID)",
            "clusterID is written once"},
    CelRule{"!has(oldSelf.memberID) || (has(self.memberID) && self.memberID == oldSelf.memberID)",
            "memberID is written once"},
    CelRule{"!has(oldSelf.removed) || !oldSelf.removed || (has(self.removed) && self.removed)",
            "who has left does not come back: removed is written once"},
    CelRule{"!has(oldSelf.raftFloor) || (has(self.raftFloor) && self.raftFloor.index >= "
            "oldSelf.raftFloor.index)",
            "raftFloor is only raised"}};

template <class Visitor>
void describe(Visitor& visit, const MemberSpec*) {
  visit.type("Who the member is, written down before anything is done with it.");
  visit.field({.name = "clusterName",
               .text = "Name of the EtcdCluster.",
               .required = true,
               .rule = &kClusterNameRule},
              &MemberSpec::cluster_name);
  visit.flat(&MemberSpec::identity);
  visit.field({.name = "version", .text = "Version of etcd to run.", .required = true},
              &MemberSpec::version);
  visit.field({.name = "role", .text = "Whether it is to vote.", .defaulted = true},
              &MemberSpec::role);
  visit.field({.name = "peerURL",
               .text = "Where other members reach it: part of its identity.",
               .required = true,
               .rule = &kPeerUrlRule},
              &MemberSpec::peer_url);
  visit.field({.name = "run", .text = "Its Pod may exist, and should."}, &MemberSpec::run);
  visit.field(
      {.name = "volumeUID", .text = "UID of the claim that holds its data.", .rule = &kUidRule},
      &MemberSpec::volume_uid);
  visit.field({.name = "lastOrdinal",
               .text = "The highest ordinal that was ever used, if this record has to remember it.",
               .minimum = 0},
              &MemberSpec::last_ordinal);
  visit.field(
      {.name = "abandoned", .text = "Its formation was given up before the cluster had formed."},
      &MemberSpec::abandoned);
  for (const auto& rule : kMemberRules) visit.rule(rule);
}

template <class Visitor>
void describe(Visitor& visit, const MemberStatus*) {
  visit.type("What was verified.");
  visit.field({.name = "ready", .text = "It is verified and serves."}, &MemberStatus::ready);
  visit.field({.name = "podUID", .text = "UID of its Pod."}, &MemberStatus::pod_uid);
  visit.field({.name = "version", .text = "The version that it runs."}, &MemberStatus::version);
  visit.field({.name = "dbSize",
               .text = "Size of its database file, about: written when it has doubled or halved."},
              &MemberStatus::db_size);
  visit.field({.name = "dbInUse",
               .text = "What of it is in use, about: the rest is freed by defragmentation."},
              &MemberStatus::db_in_use);
  visit.field({.name = "raftLag",
               .text = "How many entries it is behind, in its order of magnitude; 0 below 5000."},
              &MemberStatus::raft_lag);
}

}  // namespace quorate::api
