#include "net/h2_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <vector>

#include "base/check.h"

namespace quorate::net {

std::string_view h2_code_name(std::uint32_t code) { return nghttp2_http2_strerror(code); }

namespace {

std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// Secrets must not enter the compression state that other requests share; a value that never comes
// again only fills it.
bool stays_out_of_table(std::string_view name) {
  return name == "authorization" || name == "cookie" || name == "set-cookie" ||
         name == "grpc-timeout";
}

std::vector<nghttp2_nv> to_native(const Headers& fields) {
  std::vector<nghttp2_nv> native;
  native.reserve(fields.size());
  for (const auto& [name, value] : fields) {
    native.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
                      value.size(),
                      static_cast<std::uint8_t>(stays_out_of_table(name) ? NGHTTP2_NV_FLAG_NO_INDEX
                                                                         : NGHTTP2_NV_FLAG_NONE)});
  }
  return native;
}

bool is_interim(const Headers& fields) {
  auto status = find_header(fields, ":status");
  return status && status->starts_with('1');
}

}  // namespace

struct H2Session::Impl {
  Impl(const H2SessionOptions& options, H2Listener& to)
      : listener(to), server(options.server), max_header_bytes(options.max_header_bytes) {}
  ~Impl() { nghttp2_session_del(session); }

  static Impl& of(void* self) { return *static_cast<Impl*>(self); }
  void start(const H2SessionOptions& options);
  void block_ended(StreamId stream);
  void frame_received(const nghttp2_frame& frame);
  nghttp2_data_provider body_provider();

  H2Listener& listener;
  bool server;
  std::size_t max_header_bytes;
  nghttp2_session* session = nullptr;
  std::uint64_t produced = 0;  // bytes of output so far
  std::string complaint;       // nghttp2's last words about the peer
  // The header block that is being received: there is at most one at a time.
  Headers block;
  std::size_t block_bytes = 0;
  bool block_too_large = false;
};

namespace {

using Impl = H2Session::Impl;

int on_begin_headers(nghttp2_session*, const nghttp2_frame*, void* self) {
  auto& impl = Impl::of(self);
  impl.block.clear();
  impl.block_bytes = 0;
  impl.block_too_large = false;
  return 0;
}

int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t, void* self) {
  auto& impl = Impl::of(self);
  impl.block_bytes += name_size + value_size + 32;  // as RFC 9113 counts
  if (impl.block_bytes > impl.max_header_bytes) impl.block_too_large = true;
  if (!impl.block_too_large)
    impl.block.emplace_back(view(name, name_size), view(value, value_size));
  return 0;
}

int on_frame_recv(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  Impl::of(self).frame_received(*frame);
  return 0;
}

int on_data_chunk(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                  std::size_t size, void* self) {
  Impl::of(self).listener.on_data(stream, view(bytes, size));
  return 0;
}

int on_stream_close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* self) {
  Impl::of(self).listener.on_closed(stream, code);
  return 0;
}

int before_frame_send(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  auto& impl = Impl::of(self);
  if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat != NGHTTP2_HCAT_HEADERS)
    impl.listener.on_head_leaves(frame->hd.stream_id, impl.produced);
  return 0;
}

int on_complaint(nghttp2_session*, int, const char* text, std::size_t size, void* self) {
  Impl::of(self).complaint.assign(text, size);
  return 0;
}

int on_invalid_frame(nghttp2_session*, const nghttp2_frame*, int code, void* self) {
  auto& complaint = Impl::of(self).complaint;
  if (complaint.empty()) complaint = nghttp2_strerror(code);
  return 0;
}

ssize_t on_pull_body(nghttp2_session*, std::int32_t stream, std::uint8_t* to, std::size_t room,
                     std::uint32_t* flags, nghttp2_data_source*, void* self) {
  auto pulled = Impl::of(self).listener.on_pull(stream, {reinterpret_cast<char*>(to), room});
  if (pulled.ended) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (pulled.trailers_follow) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  } else if (pulled.bytes == 0) {
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(pulled.bytes);
}

}  // namespace

void H2Session::Impl::start(const H2SessionOptions& options) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
  nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, before_frame_send);
  nghttp2_session_callbacks_set_error_callback2(callbacks, on_complaint);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid_frame);

  nghttp2_option* option = nullptr;
  CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);  // only priorities would need them
  auto make = options.server ? nghttp2_session_server_new2 : nghttp2_session_client_new2;
  CHECK(make(&session, callbacks, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  std::vector<nghttp2_settings_entry> settings = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.server ? options.max_streams : 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(max_header_bytes)},
  };
  if (!options.server) settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
  CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  CHECK(nghttp2_session_set_local_window_size(
            session, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(options.connection_window)) ==
        0);
}

// Heads have pseudo-headers; trailers never do (nghttp2 refuses them).
void H2Session::Impl::block_ended(StreamId stream) {
  const bool head = block_too_large || (!block.empty() && block.front().first.starts_with(':'));
  if (!head || is_interim(block)) return;
  listener.on_head(stream, std::exchange(block, {}), block_too_large);
}

void H2Session::Impl::frame_received(const nghttp2_frame& frame) {
  const auto stream = frame.hd.stream_id;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA:
      if (frame.hd.type == NGHTTP2_HEADERS) block_ended(stream);
      if (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) {
        const bool has_trailers = frame.hd.type == NGHTTP2_HEADERS;
        listener.on_end(stream, has_trailers ? std::exchange(block, {}) : Headers());
      }
      return;
    case NGHTTP2_SETTINGS:
      if (!(frame.hd.flags & NGHTTP2_FLAG_ACK)) listener.on_settings();
      return;
    case NGHTTP2_PING:
      if (frame.hd.flags & NGHTTP2_FLAG_ACK) listener.on_ping_answer();
      return;
    case NGHTTP2_GOAWAY:
      listener.on_goaway(frame.goaway.last_stream_id, frame.goaway.error_code,
                         view(frame.goaway.opaque_data, frame.goaway.opaque_data_len));
      return;
    default:
      return;
  }
}

nghttp2_data_provider H2Session::Impl::body_provider() {
  nghttp2_data_provider provider{};
  provider.read_callback = on_pull_body;
  return provider;
}

H2Session::H2Session(const H2SessionOptions& options, H2Listener& listener)
    : impl_(std::make_unique<Impl>(options, listener)) {
  impl_->start(options);
}

H2Session::~H2Session() = default;

Result<void> H2Session::receive(std::string_view bytes) {
  auto taken = nghttp2_session_mem_recv(
      impl_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken >= 0) return {};
  if (impl_->complaint.empty()) impl_->complaint = nghttp2_strerror(static_cast<int>(taken));
  return fail(Code::kCorrupt, impl_->complaint);
}

std::string_view H2Session::next_output() {
  const std::uint8_t* bytes = nullptr;
  auto size = nghttp2_session_mem_send(impl_->session, &bytes);
  if (size <= 0) return {};
  impl_->produced += static_cast<std::uint64_t>(size);
  return view(bytes, static_cast<std::size_t>(size));
}

bool H2Session::wants_output() const { return nghttp2_session_want_write(impl_->session) != 0; }

bool H2Session::finished() const {
  return !nghttp2_session_want_read(impl_->session) && !nghttp2_session_want_write(impl_->session);
}

const std::string& H2Session::complaint() const { return impl_->complaint; }

Result<StreamId> H2Session::submit_request(const Headers& fields, bool has_body) {
  auto native = to_native(fields);
  auto provider = impl_->body_provider();
  auto id = nghttp2_submit_request(impl_->session, nullptr, native.data(), native.size(),
                                   has_body ? &provider : nullptr, nullptr);
  if (id < 0) return fail(Code::kUnavailable, fmt::format("http/2: {}", nghttp2_strerror(id)));
  return id;
}

void H2Session::submit_response(StreamId stream, const Headers& fields, bool has_body) {
  auto native = to_native(fields);
  auto provider = impl_->body_provider();
  // A failure means that the stream has gone, which on_closed has told or will tell.
  nghttp2_submit_response(impl_->session, stream, native.data(), native.size(),
                          has_body ? &provider : nullptr);
}

void H2Session::submit_trailers(StreamId stream, const Headers& fields) {
  auto native = to_native(fields);
  nghttp2_submit_trailer(impl_->session, stream, native.data(), native.size());
}

void H2Session::resume(StreamId stream) { nghttp2_session_resume_data(impl_->session, stream); }

void H2Session::reset(StreamId stream, std::uint32_t code) {
  nghttp2_submit_rst_stream(impl_->session, NGHTTP2_FLAG_NONE, stream, code);
}

void H2Session::consume(StreamId stream, std::size_t bytes) {
  if (bytes > 0) nghttp2_session_consume(impl_->session, stream, bytes);
}

void H2Session::submit_ping() { nghttp2_submit_ping(impl_->session, NGHTTP2_FLAG_NONE, nullptr); }

void H2Session::submit_goaway(std::uint32_t code) {
  nghttp2_submit_goaway(impl_->session, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(impl_->session), code, nullptr, 0);
}

std::uint32_t H2Session::peer_max_streams() const {
  return nghttp2_session_get_remote_settings(impl_->session,
                                             NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

}  // namespace quorate::net
