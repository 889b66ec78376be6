#include "etcd/codec.h"

#include <concepts>
#include <limits>
#include <protozero/exception.hpp>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_reader.hpp>
#include <type_traits>

namespace quorate::etcd {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;
using Tag = protozero::pbf_tag_type;

struct Malformed : std::exception {
  explicit Malformed(const char* what) : what_(what) {}
  const char* what() const noexcept override { return what_; }
  const char* what_;
};

template <class T, class... Others>
concept Is = (std::same_as<std::remove_const_t<T>, Others> || ...);

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

template <class T>
concept Number = requires(const T& id) {
  { id.value() } -> std::convertible_to<std::int64_t>;
};

// How an enum stands on the wire. Numbers that we do not know are refused, but for alarms.
template <class E>
struct EnumRange;
template <>
struct EnumRange<Compare::Target> {
  static constexpr auto last = Compare::Target::kLease;
};
template <>
struct EnumRange<Compare::Relation> {
  static constexpr auto last = Compare::Relation::kNotEqual;
};
template <>
struct EnumRange<Event::Kind> {
  static constexpr auto last = Event::Kind::kDelete;
};
template <>
struct EnumRange<wire::AlarmRequest::Action> {
  static constexpr auto last = wire::AlarmRequest::Action::kDeactivate;
};

std::uint64_t number_of(AlarmKind kind) {
  switch (kind) {
    case AlarmKind::kNoSpace:
      return 1;
    case AlarmKind::kCorrupt:
      return 2;
    case AlarmKind::kOther:
      return 0;
  }
  return 0;
}

AlarmKind alarm_kind(std::uint64_t number) {
  if (number == 1) return AlarmKind::kNoSpace;
  if (number == 2) return AlarmKind::kCorrupt;
  return AlarmKind::kOther;
}

template <class M>
void write_message(pbf_writer& out, const M& message);
template <class M>
void read_message(pbf_reader in, M& message);

// Writes the fields that `fields` names; those with default values are left out.
class Writer {
 public:
  explicit Writer(pbf_writer& out) : out_(out) {}

  void operator()(Tag tag, const std::string& value) {
    if (!value.empty()) out_.add_bytes(tag, value);
  }
  void operator()(Tag tag, const bool& value) {
    if (value) out_.add_bool(tag, true);
  }
  void operator()(Tag tag, const Integer auto& value) {
    if (value != 0) out_.add_uint64(tag, static_cast<std::uint64_t>(value));
  }
  void operator()(Tag tag, const Number auto& value) { (*this)(tag, value.value()); }
  void operator()(Tag tag, const std::chrono::seconds& value) { (*this)(tag, value.count()); }
  void operator()(Tag tag, const AlarmKind& value) { (*this)(tag, number_of(value)); }
  template <class E>
    requires std::is_enum_v<E>
  void operator()(Tag tag, const E& value) {
    (*this)(tag, static_cast<std::uint64_t>(value));
  }
  template <class T>
  void operator()(Tag tag, const std::optional<T>& value) {
    if (value) (*this)(tag, *value);
  }
  void operator()(Tag tag, const std::vector<std::string>& values) {
    for (const auto& value : values) out_.add_bytes(tag, value);
  }
  template <class M>
  void operator()(Tag tag, const std::vector<M>& values) {
    for (const auto& value : values) (*this)(tag, value);
  }
  template <class M>
  void operator()(Tag tag, const M& message) {
    // Not protozero's nested writer, which leaves empty messages out: an empty one says something
    // in a list and in a union.
    std::string bytes;
    pbf_writer nested(bytes);
    write_message(nested, message);
    out_.add_message(tag, bytes);
  }

 private:
  pbf_writer& out_;
};

// Takes the one field that `in` stands at, if `fields` names it.
class Reader {
 public:
  explicit Reader(pbf_reader& in) : in_(in) {}
  bool taken() const { return taken_; }

  void operator()(Tag tag, std::string& value) {
    if (at(tag, pbf_wire_type::length_delimited)) value = take_bytes();
  }
  void operator()(Tag tag, bool& value) {
    if (at(tag, pbf_wire_type::varint)) value = in_.get_uint64() != 0;
  }
  template <Integer T>
  void operator()(Tag tag, T& value) {
    if (at(tag, pbf_wire_type::varint)) value = static_cast<T>(in_.get_uint64());
  }
  template <Number T>
  void operator()(Tag tag, T& value) {
    auto number = value.value();
    (*this)(tag, number);
    value = T(number);
  }
  void operator()(Tag tag, std::chrono::seconds& value) {
    auto count = value.count();
    (*this)(tag, count);
    value = std::chrono::seconds(count);
  }
  void operator()(Tag tag, AlarmKind& value) {
    if (at(tag, pbf_wire_type::varint)) value = alarm_kind(in_.get_uint64());
  }
  template <class E>
    requires std::is_enum_v<E>
  void operator()(Tag tag, E& value) {
    if (!at(tag, pbf_wire_type::varint)) return;
    auto number = in_.get_uint64();
    if (number > static_cast<std::uint64_t>(EnumRange<E>::last)) throw Malformed("unknown number");
    value = static_cast<E>(number);
  }
  // A number that is 0 where there is none.
  template <Number T>
  void operator()(Tag tag, std::optional<T>& value) {
    T number = value.value_or(T());
    (*this)(tag, number);
    value = number == T() ? std::nullopt : std::optional<T>(number);
  }
  template <class M>
  void operator()(Tag tag, std::optional<M>& value) {
    if (!at(tag, pbf_wire_type::length_delimited)) return;
    if (!value) value.emplace();
    read_message(in_.get_message(), *value);
  }
  void operator()(Tag tag, std::vector<std::string>& values) {
    if (at(tag, pbf_wire_type::length_delimited)) values.push_back(take_bytes());
  }
  template <class M>
  void operator()(Tag tag, std::vector<M>& values) {
    if (at(tag, pbf_wire_type::length_delimited))
      read_message(in_.get_message(), values.emplace_back());
  }
  template <class M>
  void operator()(Tag tag, M& message) {
    if (at(tag, pbf_wire_type::length_delimited)) read_message(in_.get_message(), message);
  }

 private:
  bool at(Tag tag, pbf_wire_type type) {
    if (taken_ || in_.tag() != tag) return false;
    if (in_.wire_type() != type) throw Malformed("wrong wire type");
    taken_ = true;
    return true;
  }
  std::string take_bytes() {
    auto view = in_.get_view();
    return std::string(view.data(), view.size());
  }

  pbf_reader& in_;
  bool taken_ = false;
};

// ---- The fields of each message, by their numbers in rpc.proto and kv.proto ----

void fields(auto&, Is<wire::Empty, wire::WatchProgress> auto&) {}
void fields(auto& f, Is<Header> auto& m) {
  f(1, m.cluster);
  f(2, m.member);
  f(3, m.revision);
  f(4, m.term);
}
void fields(auto& f, Is<wire::HeaderOnly> auto& m) { f(1, m.header); }

void fields(auto& f, Is<KeyValue> auto& m) {
  f(1, m.key);
  f(2, m.create_revision);
  f(3, m.mod_revision);
  f(4, m.version);
  f(5, m.value);
  f(6, m.lease);
}
void fields(Writer& f, const RangeRequest& m) {
  f(1, m.range.key);
  f(2, m.range.end);
  f(3, m.limit);
  f(4, m.revision);
  f(7, m.consistency == Consistency::kSerializable);
  f(8, m.keys_only);
  f(9, m.count_only);
}
void fields(Reader& f, RangeRequest& m) {
  f(1, m.range.key);
  f(2, m.range.end);
  f(3, m.limit);
  f(4, m.revision);
  bool serializable = m.consistency == Consistency::kSerializable;
  f(7, serializable);
  m.consistency = serializable ? Consistency::kSerializable : Consistency::kLinearizable;
  f(8, m.keys_only);
  f(9, m.count_only);
}
void fields(auto& f, Is<RangeAnswer> auto& m) {
  f(1, m.header);
  f(2, m.kvs);
  f(3, m.more);
  f(4, m.count);
}
void fields(auto& f, Is<PutRequest> auto& m) {
  f(1, m.key);
  f(2, m.value);
  f(3, m.lease);
  f(4, m.want_previous);
}
void fields(auto& f, Is<PutAnswer> auto& m) {
  f(1, m.header);
  f(2, m.previous);
}
void fields(auto& f, Is<DeleteRequest> auto& m) {
  f(1, m.range.key);
  f(2, m.range.end);
  f(3, m.want_previous);
}
void fields(auto& f, Is<DeleteAnswer> auto& m) {
  f(1, m.header);
  f(2, m.deleted);
  f(3, m.previous);
}

// The number of the union's member that a comparison uses.
Tag operand_of(Compare::Target target) { return 4 + static_cast<Tag>(target); }
void fields(Writer& f, const Compare& m) {
  f(1, m.relation);
  f(2, m.target);
  f(3, m.key);
  if (m.target == Compare::Target::kValue)
    f(operand_of(m.target), m.value);
  else
    f(operand_of(m.target), m.number);
}
void fields(Reader& f, Compare& m) {
  f(1, m.relation);
  f(2, m.target);
  f(3, m.key);
  for (auto target : {Compare::Target::kVersion, Compare::Target::kCreateRevision,
                      Compare::Target::kModRevision, Compare::Target::kLease})
    f(operand_of(target), m.number);
  f(operand_of(Compare::Target::kValue), m.value);
}

// A union of messages: the member's position in the variant is its field number less one.
template <class... Ms>
void fields(Writer& f, const std::variant<Ms...>& m) {
  std::visit([&](const auto& held) { f(static_cast<Tag>(m.index() + 1), held); }, m);
}
template <class... Ms>
void fields(Reader& f, std::variant<Ms...>& m) {
  Tag tag = 0;
  auto one = [&]<class M>(M held) {
    bool before = f.taken();
    f(++tag, held);
    if (f.taken() && !before) m = std::move(held);
  };
  (one(Ms()), ...);
}
void fields(auto& f, Is<TxnRequest> auto& m) {
  f(1, m.compares);
  f(2, m.success);
  f(3, m.failure);
}
void fields(auto& f, Is<TxnAnswer> auto& m) {
  f(1, m.header);
  f(2, m.succeeded);
  f(3, m.answers);
}
void fields(auto& f, Is<CompactRequest> auto& m) {
  f(1, m.revision);
  f(2, m.physical);
}

void fields(auto& f, Is<Member> auto& m) {
  f(1, m.id);
  f(2, m.name);
  f(3, m.peer_urls);
  f(4, m.client_urls);
  f(5, m.learner);
}
void fields(auto& f, Is<MemberList> auto& m) {
  f(1, m.header);
  f(2, m.members);
}
void fields(auto& f, Is<AddedMember> auto& m) {
  f(1, m.list.header);
  f(2, m.member);
  f(3, m.list.members);
}
void fields(auto& f, Is<wire::MemberAddRequest> auto& m) {
  f(1, m.peer_urls);
  f(2, m.learner);
}
void fields(auto& f, Is<wire::MemberIdRequest> auto& m) { f(1, m.id); }
void fields(auto& f, Is<wire::MemberUpdateRequest> auto& m) {
  f(1, m.id);
  f(2, m.peer_urls);
}
void fields(auto& f, Is<wire::MemberListRequest> auto& m) { f(1, m.linearizable); }

void fields(auto& f, Is<Status> auto& m) {
  f(1, m.header);
  f(2, m.version);
  f(3, m.db_size);
  f(4, m.leader);
  f(5, m.raft_index);
  f(6, m.term);
  f(7, m.applied_index);
  f(8, m.errors);
  f(9, m.db_in_use);
  f(10, m.learner);
  f(11, m.storage_version);
  f(12, m.db_quota);
}
void fields(auto& f, Is<Alarm> auto& m) {
  f(1, m.member);
  f(2, m.kind);
}
void fields(auto& f, Is<wire::AlarmRequest> auto& m) {
  f(1, m.action);
  f(2, m.alarm.member);
  f(3, m.alarm.kind);
}
void fields(auto& f, Is<wire::AlarmAnswer> auto& m) {
  f(1, m.header);
  f(2, m.alarms);
}
void fields(auto& f, Is<wire::HashKvRequest> auto& m) { f(1, m.revision); }
void fields(auto& f, Is<HashKv> auto& m) {
  f(1, m.header);
  f(2, m.hash);
  f(3, m.compacted);
  f(4, m.revision);
}
void fields(auto& f, Is<wire::SnapshotAnswer> auto& m) {
  f(1, m.header);
  f(2, m.remaining);
  f(3, m.blob);
  f(4, m.version);
}

void fields(auto& f, Is<GrantRequest> auto& m) {
  f(1, m.ttl);
  f(2, m.id);
}
void fields(auto& f, Is<wire::GrantAnswer> auto& m) {
  f(1, m.header);
  f(2, m.id);
  f(3, m.ttl);
  f(4, m.error);
}
void fields(auto& f, Is<wire::LeaseIdRequest> auto& m) { f(1, m.id); }
void fields(auto& f, Is<wire::TimeToLiveRequest> auto& m) {
  f(1, m.id);
  f(2, m.keys);
}
void fields(auto& f, Is<Lease> auto& m) {  // of LeaseKeepAlive and LeaseTimeToLive
  f(1, m.header);
  f(2, m.id);
  f(3, m.ttl);
  f(4, m.granted);
  f(5, m.keys);
}

void fields(auto& f, Is<WatchRequest> auto& m) {
  f(1, m.range.key);
  f(2, m.range.end);
  f(3, m.start);
  f(4, m.progress_notify);
  f(6, m.want_previous);
}
void fields(auto& f, Is<wire::WatchCancel> auto& m) { f(1, m.id); }
void fields(auto& f, Is<Event> auto& m) {
  f(1, m.kind);
  f(2, m.kv);
  f(3, m.previous);
}
void fields(auto& f, Is<wire::WatchAnswer> auto& m) {
  f(1, m.header);
  f(2, m.id);
  f(3, m.created);
  f(4, m.cancelled);
  f(5, m.compacted);
  f(6, m.cancel_reason);
  f(7, m.fragment);
  f(11, m.events);
}

// -----------------------------------------------------------------------------------------------

template <class M>
void write_message(pbf_writer& out, const M& message) {
  Writer writer(out);
  fields(writer, message);
}

template <class M>
void read_message(pbf_reader in, M& message) {
  while (in.next()) {
    Reader reader(in);
    fields(reader, message);
    if (!reader.taken()) in.skip();
  }
}

}  // namespace

template <class Message>
std::string encode(const Message& message) {
  std::string bytes;
  pbf_writer out(bytes);
  write_message(out, message);
  return bytes;
}

template <class Message>
Result<Message> decode(std::string_view bytes) {
  Message message;
  try {
    read_message(pbf_reader(bytes.data(), bytes.size()), message);
  } catch (const protozero::exception& error) {
    return fail(Code::kCorrupt, std::string("malformed message: ") + error.what());
  } catch (const Malformed& error) {
    return fail(Code::kCorrupt, std::string("malformed message: ") + error.what());
  }
  return message;
}

#define QUORATE_ETCD_MESSAGE(Message)          \
  template std::string encode(const Message&); \
  template Result<Message> decode(std::string_view)
QUORATE_ETCD_MESSAGE(RangeRequest);
QUORATE_ETCD_MESSAGE(RangeAnswer);
QUORATE_ETCD_MESSAGE(PutRequest);
QUORATE_ETCD_MESSAGE(PutAnswer);
QUORATE_ETCD_MESSAGE(DeleteRequest);
QUORATE_ETCD_MESSAGE(DeleteAnswer);
QUORATE_ETCD_MESSAGE(TxnRequest);
QUORATE_ETCD_MESSAGE(TxnAnswer);
QUORATE_ETCD_MESSAGE(CompactRequest);
QUORATE_ETCD_MESSAGE(MemberList);
QUORATE_ETCD_MESSAGE(AddedMember);
QUORATE_ETCD_MESSAGE(Status);
QUORATE_ETCD_MESSAGE(HashKv);
QUORATE_ETCD_MESSAGE(GrantRequest);
QUORATE_ETCD_MESSAGE(Lease);
QUORATE_ETCD_MESSAGE(wire::Empty);
QUORATE_ETCD_MESSAGE(wire::HeaderOnly);
QUORATE_ETCD_MESSAGE(wire::MemberAddRequest);
QUORATE_ETCD_MESSAGE(wire::MemberIdRequest);
QUORATE_ETCD_MESSAGE(wire::MemberUpdateRequest);
QUORATE_ETCD_MESSAGE(wire::MemberListRequest);
QUORATE_ETCD_MESSAGE(wire::AlarmRequest);
QUORATE_ETCD_MESSAGE(wire::AlarmAnswer);
QUORATE_ETCD_MESSAGE(wire::HashKvRequest);
QUORATE_ETCD_MESSAGE(wire::SnapshotAnswer);
QUORATE_ETCD_MESSAGE(wire::GrantAnswer);
QUORATE_ETCD_MESSAGE(wire::LeaseIdRequest);
QUORATE_ETCD_MESSAGE(wire::TimeToLiveRequest);
QUORATE_ETCD_MESSAGE(wire::WatchMessage);
QUORATE_ETCD_MESSAGE(wire::WatchAnswer);
#undef QUORATE_ETCD_MESSAGE

}  // namespace quorate::etcd
