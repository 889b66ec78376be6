#include "net/h2_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"

namespace quorate::net {

namespace {

// One reader that does not read must not stop the others on its connection; all of them together
// must not fill the memory.
constexpr std::uint32_t kConnectionWindows = 16;
constexpr std::size_t kMaxReason = 100;  // of what a server says in a GOAWAY

std::uint32_t connection_window(std::uint32_t window) {
  const std::uint64_t wanted = std::uint64_t{window} * kConnectionWindows;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, (1ULL << 31) - 1));
}

int parse_status(const Headers& fields) {
  auto text = find_header(fields, ":status").value_or("");
  int status = 0;
  std::from_chars(text.data(), text.data() + text.size(), status);
  return status;
}

Headers head_of(Request& request, const H2ConnectionOptions& options) {
  Headers fields;
  fields.reserve(request.headers.size() + 4);
  fields.emplace_back(":method", std::move(request.method));
  fields.emplace_back(":scheme", options.scheme);
  fields.emplace_back(":authority",
                      find_header(request.headers, "host").value_or(options.authority));
  fields.emplace_back(":path", std::move(request.path));
  for (auto& field : request.headers)
    if (field.first != "host") fields.push_back(std::move(field));
  return fields;
}

}  // namespace

H2Connection::H2Connection(rt::Runtime runtime, std::unique_ptr<ByteStream> stream,
                           H2ConnectionOptions options, H2Owner& owner)
    : runtime_(runtime),
      stream_(std::move(stream)),
      options_(std::move(options)),
      owner_(&owner),
      session_({.stream_window = options_.window,
                .connection_window = connection_window(options_.window)},
               *this),
      wire_(*stream_, session_),
      dirty_(runtime),
      heard_at_(runtime.clock->now()) {}

bool H2Connection::has_room() const { return streams_.size() < session_.peer_max_streams(); }

Result<std::unique_ptr<H2ClientStream>> H2Connection::open(Request request, bool keep_writing) {
  if (!usable()) return fail(Code::kUnavailable, "the connection takes no more requests");
  std::unique_ptr<H2ClientStream> stream(
      new H2ClientStream(runtime_, shared_from_this(), std::move(request.body)));
  stream->out_ended_ = !keep_writing;
  const bool has_body = keep_writing || !stream->out_.empty();
  auto id = session_.submit_request(head_of(request, options_), has_body);
  if (!id) {
    retire();  // it has used up its stream numbers
    return fail(std::move(id).error());
  }
  stream->id_ = *id;
  stream->registered_ = true;
  streams_.emplace(*id, stream.get());
  dirty_.notify();
  return stream;
}

H2ClientStream* H2Connection::find(StreamId id) const {
  auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second;
}

void H2Connection::drop(H2ClientStream& stream) {
  const auto unread = std::exchange(stream.in_, {}).size();
  if (lost_) return;
  session_.consume(stream.id_, unread);
  if (std::exchange(stream.registered_, false)) {
    streams_.erase(stream.id_);
    session_.reset(stream.id_, H2Code::kCancel);
    if (owner_) owner_->on_room_for_one(*this);
  }
  dirty_.notify();
}

void H2Connection::doubt(const H2ClientStream& stream) {
  if (lost_ || heard_at_ > stream.opened_at_) return;
  suspect_ = true;
  if (!pinged_at_) ping();
}

void H2Connection::retire() {
  retired_ = true;
  became_unusable();
  dirty_.notify();
}

void H2Connection::abandon(Error why) {
  if (lost_) return;
  session_.submit_goaway(H2Code::kNoError);
  lose(std::move(why));
}

void H2Connection::lose(Error why) {
  if (lost_) return;
  if (why != Code::kForbidden) why = std::move(why).as(Code::kUnavailable);
  lost_ = why;
  for (auto& [id, stream] : std::exchange(streams_, {})) {
    stream->registered_ = false;
    stream->fail_with(why, !stream->sent());
  }
  stream_->wake();
  dirty_.notify();
  became_unusable();
}

void H2Connection::became_unusable() {
  if (owner_ && !std::exchange(told_unusable_, true)) owner_->on_unusable(*this);
}

void H2Connection::wake_writer() {
  if (session_.wants_output()) dirty_.notify();
}

void H2Connection::on_head(StreamId id, Headers fields, bool too_large) {
  auto* stream = find(id);
  if (!stream) return;
  if (too_large) {
    stream->fail_with(Error(Code::kInvalid, "the answer's headers are too large"), false);
    session_.reset(id, H2Code::kCancel);
    return;
  }
  stream->status_ = parse_status(fields);
  std::erase_if(fields, [](const auto& field) { return field.first.starts_with(':'); });
  stream->headers_ = std::move(fields);
  if (!stream->collect_limit_) stream->changed_.notify();
}

void H2Connection::on_data(StreamId id, std::string_view bytes) {
  if (auto* stream = find(id); stream && !stream->over())
    stream->take(bytes);
  else
    session_.consume(id, bytes.size());
}

void H2Connection::on_end(StreamId id, Headers trailers) {
  auto* stream = find(id);
  if (!stream || stream->over()) return;
  stream->ended_ = true;
  stream->trailers_ = std::move(trailers);
  stream->changed_.notify();
}

void H2Connection::on_closed(StreamId id, std::uint32_t code) {
  auto* stream = find(id);
  if (!stream) return;
  streams_.erase(id);
  stream->registered_ = false;
  const bool refused = code == H2Code::kRefusedStream || code == H2Code::kHttp11Required;
  const bool certain = !stream->sent() || (refused && stream->status_ == 0);
  auto why = fmt::format("the server reset the stream: {}", h2_code_name(code));
  if (refused && !farewell_.empty()) why = farewell_;
  stream->fail_with(Error(Code::kUnavailable, std::move(why)), certain);
  if (owner_) owner_->on_room_for_one(*this);
}

void H2Connection::on_head_leaves(StreamId id, std::uint64_t offset) {
  if (auto* stream = find(id)) stream->head_offset_ = offset;
}

H2Listener::Pulled H2Connection::on_pull(StreamId id, std::span<char> to) {
  if (auto* stream = find(id)) return stream->give(to);
  return {};  // its reset is on the way
}

void H2Connection::on_settings() {
  const bool first = !std::exchange(ready_, true);
  if (!owner_ || !usable()) return;
  if (first)
    owner_->on_ready(*this);
  else
    owner_->on_room_for_many(*this);
}

void H2Connection::on_goaway(StreamId, std::uint32_t code, std::string_view reason) {
  farewell_ = fmt::format("the server has gone away: {} {}", h2_code_name(code),
                          to_valid_utf8(reason.substr(0, kMaxReason)));
  retire();
}

Result<Moved::State> H2Connection::take_in() {
  const auto before = wire_.received();
  auto taken = wire_.take_in();
  if (wire_.received() != before) {
    heard_at_ = runtime_.clock->now();
    suspect_ = false;
    // The next check is due at another time now.
    if (std::exchange(pinged_at_, std::nullopt)) dirty_.notify();
    wake_writer();
  }
  return taken;
}

Task<void> H2Connection::read(std::shared_ptr<H2Connection> self) {
  while (!self->lost_) {
    auto taken = self->take_in();
    if (!taken) {
      self->lose(std::move(taken).error());
      break;
    }
    Result<void> waited;
    if (*taken == Moved::State::kBlocked)
      waited = co_await self->stream_->wait_to_read(rt::Deadline::never());
    else
      waited = co_await yield();
    if (!waited) self->abandon(Error(Code::kUnavailable, "the client was closed"));
  }
  self->owner_ = nullptr;
}

Task<void> H2Connection::tend(std::shared_ptr<H2Connection> self) {
  while (!self->lost_) {
    auto flushed = self->wire_.flush();
    if (!flushed) {
      self->lose(std::move(flushed).error());
      break;
    }
    const bool blocked = *flushed == Moved::State::kBlocked;
    if (!blocked && self->session_.finished()) {
      const auto& complaint = self->session_.complaint();
      self->lose(
          Error(Code::kUnavailable, complaint.empty() ? self->farewell_ : "http/2: " + complaint));
      break;
    }
    if (self->retired_ && self->streams_.empty()) {
      self->abandon(Error(Code::kUnavailable, "the connection was retired"));
      break;
    }
    const auto due = self->next_check();
    Result<void> waited;
    if (blocked)
      waited = co_await self->stream_->wait_to_write(due);
    else
      waited = co_await self->dirty_.wait(due);
    if (waited) continue;
    if (waited.error() != Code::kTimeout) break;
    self->check_peer();
  }
  // Whatever the reason: the last words (a GOAWAY), if the transport still takes them.
  if (self->wire_.flush()) self->stream_->say_goodbye();
}

rt::Deadline H2Connection::next_check() const {
  if (!ready_) return options_.ready_by;
  if (pinged_at_) return {*pinged_at_ + options_.ping_timeout};
  if (!streams_.empty()) return {heard_at_ + options_.ping_after};
  return rt::Deadline::never();
}

void H2Connection::check_peer() {
  if (!next_check().passed(*runtime_.clock)) return;
  if (!ready_) return lose(Error(Code::kUnavailable, "the server did not begin to speak http/2"));
  if (pinged_at_) return lose(Error(Code::kUnavailable, "the server did not answer a ping"));
  ping();
}

void H2Connection::ping() {
  pinged_at_ = runtime_.clock->now();
  session_.submit_ping();
  dirty_.notify();
}

}  // namespace quorate::net
