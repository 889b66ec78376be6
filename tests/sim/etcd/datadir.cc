#include "tests/sim/etcd/datadir.h"

#include "pki/digest.h"
#include "tests/sim/etcd/bytes.h"

namespace quorate::etcdsim {
namespace {

constexpr std::size_t kPage = 512;
constexpr std::string_view kMagic = "simulated etcd database";

std::string digest_of(std::string_view bytes) {
  pki::Sha256Stream digest;
  digest.update(bytes);
  return digest.finish();
}

}  // namespace

datadir::Folder DataDir::folder() const {
  if (foreign) return datadir::Folder::kOther;
  if (formed) return datadir::Folder::kData;
  if (orphan) return datadir::Folder::kOther;
  if (database_file) return datadir::Folder::kNoLog;
  return prepared ? datadir::Folder::kPrepared : datadir::Folder::kEmpty;
}

std::optional<datadir::Log> DataDir::log() const {
  if (folder() != datadir::Folder::kData) return std::nullopt;
  datadir::Log out;
  out.cluster_id = formed->cluster.value();
  out.member_id = formed->member.value();
  out.last_term = formed->log.last().term;
  out.last_index = formed->log.last_index();
  out.commit = formed->hard.commit;
  out.snapshot = formed->log.first_index() - 1;
  if (damage == Damage::kLog) out.damage = "at byte 0: the checksum is wrong";
  return out;
}

std::optional<std::string> DataDir::database_bytes() const {
  if (orphan) return encode_database(*orphan);
  if (!formed) return std::nullopt;
  AppliedState lagging = formed->state;
  lagging.kv.forget_after(formed->database_revision);
  return encode_database(lagging);
}

void Volume::wipe() { replace({}); }

void Volume::replace(DataDir with) {
  data = std::move(with);
  ++incarnation;
}

std::string encode_database(const AppliedState& state) {
  ByteWriter out;
  out.text(kMagic);
  out.number(state.index);
  out.text(state.kv.encode());
  out.number(state.leases.size());
  for (const auto& [id, lease] : state.leases) {
    out.number(id.value());
    out.number(static_cast<std::uint64_t>(lease.ttl.count()));
    out.number(lease.keys.size());
    for (const auto& key : lease.keys) out.text(key);
  }
  std::string bytes = std::move(out).finish();
  bytes.resize((bytes.size() + kPage - 1) / kPage * kPage, '\0');
  return bytes;
}

std::string encode_snapshot(const AppliedState& state) {
  std::string bytes = encode_database(state);
  return bytes + digest_of(bytes);
}

std::optional<AppliedState> decode_database(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.text() != kMagic) return std::nullopt;
  AppliedState state;
  state.database_index = in.number();
  auto kv = Store::decode(in.text());
  if (!kv) return std::nullopt;
  state.kv = std::move(*kv);
  for (std::uint64_t left = in.number(); left > 0 && in.good(); --left) {
    LeaseRecord& lease = state.leases[etcd::LeaseId(in.number())];
    lease.ttl = std::chrono::seconds(in.number());
    for (std::uint64_t keys = in.number(); keys > 0 && in.good(); --keys)
      lease.keys.insert(in.text());
  }
  if (!in.good()) return std::nullopt;
  return state;
}

Result<void> restore_snapshot(Volume& volume, std::string_view file,
                              const RestoreOptions& options) {
  if (volume.data.folder() != datadir::Folder::kEmpty)
    return fail(Code::kInvalid, "data-dir not empty or could not be read");
  auto self = options.initial_cluster.find(options.name);
  if (self == options.initial_cluster.end())
    return fail(Code::kInvalid,
                "couldn't find local name \"" + options.name + "\" in the initial cluster");
  if (file.empty()) return fail(Code::kCorrupt, "seek: invalid argument");
  const bool has_digest = file.size() % kPage == pki::Sha256Stream::kSize;
  if (!has_digest && !options.skip_hash_check)
    return fail(Code::kCorrupt, "snapshot missing hash but --skip-hash-check=false");
  std::string_view database = file;
  if (has_digest) database.remove_suffix(pki::Sha256Stream::kSize);
  auto state = decode_database(database);

  // The database is in place before its digest is looked at.
  volume.data.prepared = true;
  volume.data.database_file = true;
  if (state) volume.data.orphan = *state;
  if (!options.skip_hash_check && file.substr(database.size()) != digest_of(database))
    return fail(Code::kCorrupt, "expected sha256 of the database, got another");
  if (!state) {
    volume.data.damage = Damage::kDatabase;
    return fail(Code::kCorrupt, "panic: the database file is broken");
  }

  FormedDir formed;
  std::set<MemberId> ids;
  formed.state = std::move(*state);
  formed.state.database_index = 0;
  formed.state.kv.bump(options.bump_revision, options.mark_compacted);
  for (const auto& [name, urls] : options.initial_cluster) {
    ConfChange add;
    add.member = {static_member_id(urls, options.token), name, urls, {}, false};
    ids.insert(add.member.id);
    formed.log.append({1, std::make_shared<Proposal>(Proposal{0, add})});
    formed.state.conf.apply(add);
    formed.state.membership.apply(add);
    if (name == options.name) formed.member = add.member.id;
  }
  formed.cluster = cluster_id_of(ids);
  formed.hard = {1, {}, ids.size()};
  formed.state.index = ids.size();
  formed.database_revision = formed.state.kv.revision();
  formed.database_size = FormedDir::kEmptyDatabase + formed.state.kv.size();
  volume.data.orphan.reset();
  volume.data.formed = std::move(formed);
  return {};
}

}  // namespace quorate::etcdsim
