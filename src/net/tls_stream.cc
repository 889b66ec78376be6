#include "net/tls_stream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/check.h"
#include "net/address.h"
#include "net/connect.h"
#include "net/tls_impl.h"
#include "rt/group.h"

namespace quorate::net {

namespace {

// OpenSSL's own socket BIO raises SIGPIPE when the peer has gone; this one does not.
int descriptor_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int bio_read(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(descriptor_of(bio), to, static_cast<std::size_t>(size), 0);
  if (got == 0) errno = 0;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int bio_write(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(descriptor_of(bio), from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* descriptor_bio() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "descriptor");
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

class TlsStream final : public ByteStream {
 public:
  TlsStream(std::unique_ptr<Socket> socket, std::shared_ptr<TlsContext> context)
      : socket_(std::move(socket)),
        context_(std::move(context)),
        ssl_(SSL_new(context_->native().context.get())) {
    CHECK(ssl_ != nullptr);
    BIO* bio = BIO_new(descriptor_bio());
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket_->fd())));
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_app_data(ssl_.get(), &notes_);
  }

  // A session whose connection ended without a farewell is not resumed; that is for attacks that
  // framing in HTTP excludes, so it is forgiven.
  ~TlsStream() override { SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

  void be_server() { SSL_set_accept_state(ssl_.get()); }
  void be_client_of(const TlsTarget& target);
  // Certificates are held against this time.
  Task<Result<void>> shake_hands(WallTime now);

  Result<Moved> try_read(std::span<char> to) override {
    ERR_clear_error();
    std::size_t got = 0;
    if (SSL_read_ex(ssl_.get(), to.data(), to.size(), &got) == 1)
      return Moved{Moved::State::kSome, got};
    return not_moved(read_waits_for_);
  }

  Result<Moved> try_write(std::string_view from) override {
    ERR_clear_error();
    std::size_t sent = 0;
    if (SSL_write_ex(ssl_.get(), from.data(), from.size(), &sent) == 1)
      return Moved{Moved::State::kSome, sent};
    auto moved = not_moved(write_waits_for_);
    if (moved) return moved;
    return fail(last_word().value_or(std::move(moved).error()));
  }

  Task<Result<void>> wait_to_read(rt::Deadline deadline) override {
    return socket_->wait(read_waits_for_, deadline);
  }
  Task<Result<void>> wait_to_write(rt::Deadline deadline) override {
    return socket_->wait(write_waits_for_, deadline);
  }
  void wake() override { socket_->wake(); }

  void say_goodbye() override {
    ERR_clear_error();
    if (SSL_in_init(ssl_.get()) == 0) SSL_shutdown(ssl_.get());
    ERR_clear_error();
    ::shutdown(socket_->fd(), SHUT_WR);
  }

  std::string_view protocol() const override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

  std::string peer_certificate() const override {
    X509* certificate = SSL_get0_peer_certificate(ssl_.get());
    return certificate ? pem_of(certificate) : std::string();
  }

 private:
  Result<Moved> not_moved(Socket::Direction& waits_for) {
    const int number = errno;
    switch (const int code = SSL_get_error(ssl_.get(), 0)) {
      case SSL_ERROR_WANT_READ:
        waits_for = Socket::Direction::kRead;
        return Moved{Moved::State::kBlocked, 0};
      case SSL_ERROR_WANT_WRITE:
        waits_for = Socket::Direction::kWrite;
        return Moved{Moved::State::kBlocked, 0};
      case SSL_ERROR_ZERO_RETURN:
        return Moved{Moved::State::kEnd, 0};
      default:
        return fail(tls_error(ssl_.get(), code, number));
    }
  }

  // What the peer said before it closed, if that tells why. A server that refuses our certificate
  // sends an alert and closes without reading what we sent meanwhile, which resets the connection:
  // a write then fails while the alert still waits to be read. A look takes no data from readers.
  std::optional<Error> last_word() {
    ERR_clear_error();
    char ignored = 0;
    std::size_t got = 0;
    if (SSL_peek_ex(ssl_.get(), &ignored, 1, &got) == 1) return std::nullopt;
    const int number = errno;
    const int code = SSL_get_error(ssl_.get(), 0);
    if (code != SSL_ERROR_SSL) return std::nullopt;
    return tls_error(ssl_.get(), code, number);
  }

  std::unique_ptr<Socket> socket_;
  std::shared_ptr<TlsContext> context_;
  SslNotes notes_;
  OwnedSsl ssl_;
  Socket::Direction read_waits_for_ = Socket::Direction::kRead;
  Socket::Direction write_waits_for_ = Socket::Direction::kWrite;
};

void TlsStream::be_client_of(const TlsTarget& target) {
  SSL* ssl = ssl_.get();
  SSL_set_connect_state(ssl);
  notes_.session_key = target.session_key;
  notes_.expected_name = target.server_name;
  if (notes_.expected_name.ends_with('.')) notes_.expected_name.pop_back();
  if (Address::parse(notes_.expected_name, 0))  // an address without its zone
    notes_.expected_name.resize(
        std::min(notes_.expected_name.find('%'), notes_.expected_name.size()));

  X509_VERIFY_PARAM* expect = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(
      expect, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const auto& name = notes_.expected_name;
  if (Address::parse(name, 0)) {
    CHECK(X509_VERIFY_PARAM_set1_ip_asc(expect, name.c_str()) == 1);
  } else {
    CHECK(!name.empty() && X509_VERIFY_PARAM_set1_host(expect, name.data(), name.size()) == 1);
    SSL_set_tlsext_host_name(ssl, name.c_str());
  }

  const auto offered = target.alpn.empty() ? context_->native().alpn : alpn_wire(target.alpn);
  if (!offered.empty())
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(offered.data()),
                        static_cast<unsigned>(offered.size()));
  if (auto session = context_->native().sessions.take(target.session_key))
    SSL_set_session(ssl, session.get());
}

Task<Result<void>> TlsStream::shake_hands(WallTime now) {
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl_.get()), seconds);
  for (;;) {
    ERR_clear_error();
    errno = 0;
    if (SSL_do_handshake(ssl_.get()) == 1) break;
    auto direction = Socket::Direction::kRead;
    CO_TRY(auto moved, not_moved(direction));
    if (moved.state == Moved::State::kEnd)
      co_return fail(Error(Code::kUnavailable, "the peer closed the connection").in("tls"));
    CO_TRY(co_await socket_->wait(direction, rt::Deadline::never()));
  }
  if (!SSL_session_reused(ssl_.get()) || notes_.expected_name.empty()) co_return Result<void>();
  ++context_->native().resumed;
  X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  auto refusal = certificate ? refusal_of_resumed(certificate, notes_.expected_name, seconds)
                             : std::string("the resumed session has no certificate");
  if (!refusal.empty()) co_return fail(Error(Code::kForbidden, refusal).in("tls"));
  co_return Result<void>();
}

Task<Result<std::unique_ptr<ByteStream>>> finish(std::unique_ptr<TlsStream> stream,
                                                 rt::Runtime runtime, rt::Deadline deadline) {
  auto done =
      co_await rt::with_deadline(runtime, deadline, stream->shake_hands(runtime.clock->wall()));
  if (!done && done.error() == Code::kTimeout)
    co_return fail(Error(Code::kTimeout, "the handshake did not end in time").in("tls"));
  if (!done) co_return fail(std::move(done).error());
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace

Task<Result<std::unique_ptr<ByteStream>>> tls_connect(std::unique_ptr<Socket> socket,
                                                      std::shared_ptr<TlsContext> context,
                                                      TlsTarget target, rt::Deadline deadline) {
  CHECK(!context->native().server);
  auto runtime = socket->runtime();
  auto stream = std::make_unique<TlsStream>(std::move(socket), std::move(context));
  stream->be_client_of(target);
  return finish(std::move(stream), runtime, deadline);
}

Task<Result<std::unique_ptr<ByteStream>>> tls_accept(std::unique_ptr<Socket> socket,
                                                     std::shared_ptr<TlsContext> context,
                                                     rt::Deadline deadline) {
  CHECK(context->native().server);
  auto runtime = socket->runtime();
  auto stream = std::make_unique<TlsStream>(std::move(socket), std::move(context));
  stream->be_server();
  return finish(std::move(stream), runtime, deadline);
}

Task<Result<std::unique_ptr<ByteStream>>> open_stream(rt::Runtime runtime, Endpoint endpoint,
                                                      std::shared_ptr<TlsContext> tls,
                                                      std::vector<std::string> alpn,
                                                      rt::Deadline deadline) {
  CO_TRY(auto socket, co_await connect(runtime, endpoint.host, endpoint.port, deadline));
  if (!endpoint.tls) co_return make_plain_stream(std::move(socket));
  TlsTarget target;
  target.server_name = endpoint.server_name.empty() ? endpoint.host : endpoint.server_name;
  target.session_key = fmt::format("{} {}", endpoint.text(), target.server_name);
  target.alpn = std::move(alpn);
  co_return co_await tls_connect(std::move(socket), std::move(tls), std::move(target), deadline);
}

}  // namespace quorate::net
