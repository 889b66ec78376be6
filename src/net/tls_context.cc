#include <fmt/format.h>
#include <openssl/pem.h>

#include "net/tls_impl.h"

namespace quorate::net {

namespace {

constexpr std::size_t kMaxSessions = 256;

// Keys with a passphrase are refused; without this OpenSSL would ask at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

OwnedBio bio_of(const std::string& text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::vector<OwnedCertificate>> parse_certificates(const std::string& pem,
                                                         std::string_view what) {
  std::vector<OwnedCertificate> found;
  auto bio = bio_of(pem);
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr))
    found.emplace_back(one);
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!ended || found.empty()) {
    auto reason = last_openssl_error();
    return fail(Code::kInvalid, fmt::format("{}: certificate {}: {}", what, found.size() + 1,
                                            ended ? "there is none" : reason));
  }
  ERR_clear_error();
  return found;
}

Result<void> trust(SSL_CTX* context, const std::string& roots, bool server) {
  TRY(auto certificates, parse_certificates(roots, "trusted authorities"));
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (auto& certificate : certificates) {
    X509_STORE_add_cert(store, certificate.get());  // one that stands there twice is no error
    if (server) SSL_CTX_add_client_CA(context, certificate.get());
  }
  // What is listed is trusted, also if it is an intermediate authority.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

Result<void> identify(SSL_CTX* context, const TlsIdentity& identity) {
  TRY(auto chain, parse_certificates(identity.certificate, "certificate"));
  auto bio = bio_of(identity.key.reveal());
  OwnedKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) {
    ERR_clear_error();
    return fail(Code::kInvalid, "private key: not a PEM key without passphrase");
  }
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1)
    return fail(Code::kInvalid, "certificate: " + last_openssl_error());
  for (std::size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context, chain[i].get());
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return fail(Code::kInvalid, "private key: it does not belong to the certificate");
  }
  return {};
}

// SSL_CTX's application data is our Native; an SSL's are its SslNotes.
int keep_session(SSL* ssl, SSL_SESSION* session) {
  auto* native = static_cast<TlsContext::Native*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto* notes = static_cast<const SslNotes*>(SSL_get_app_data(ssl));
  if (notes->session_key.empty()) return 0;
  native->sessions.keep(notes->session_key, OwnedSession(session));
  return 1;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* self) {
  const auto& ours = static_cast<TlsContext::Native*>(self)->alpn;
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned>(ours.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

std::unique_ptr<TlsContext::Native> make_native(bool server, const std::vector<std::string>& alpn) {
  auto native = std::make_unique<TlsContext::Native>();
  native->server = server;
  native->alpn = alpn_wire(alpn);
  native->context.reset(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
  SSL_CTX* context = native->context.get();
  SSL_CTX_set_app_data(context, native.get());
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Buffers only while they hold something: 12 KB less for each idle connection.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  return native;
}

}  // namespace

void SessionStore::keep(const std::string& key, OwnedSession session) {
  if (sessions_.size() >= kMaxSessions && !sessions_.contains(key)) sessions_.clear();
  sessions_[key] = std::move(session);
}

OwnedSession SessionStore::take(const std::string& key) {
  auto found = sessions_.extract(key);
  return found ? std::move(found.mapped()) : nullptr;
}

std::string alpn_wire(const std::vector<std::string>& names) {
  std::string wire;
  for (const auto& name : names) {
    wire += static_cast<char>(name.size());
    wire += name;
  }
  return wire;
}

std::string last_openssl_error() {
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason ? reason : "unknown error";
}

std::string pem_of(X509* certificate) {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

TlsContext::TlsContext(std::unique_ptr<Native> native) : native_(std::move(native)) {}
TlsContext::~TlsContext() = default;
std::uint64_t TlsContext::resumed_sessions() const { return native_->resumed; }

Result<std::shared_ptr<TlsContext>> TlsContext::for_client(const TlsIdentity& identity,
                                                           std::vector<std::string> alpn) {
  auto native = make_native(false, alpn);
  SSL_CTX* context = native->context.get();
  TRY(trust(context, identity.roots, false));
  if (!identity.certificate.empty()) TRY(identify(context, identity));
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_refusal);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, keep_session);
  return std::shared_ptr<TlsContext>(new TlsContext(std::move(native)));
}

Result<std::shared_ptr<TlsContext>> TlsContext::for_server(const TlsIdentity& identity,
                                                           PeerCheck check,
                                                           std::vector<std::string> alpn) {
  auto native = make_native(true, alpn);
  SSL_CTX* context = native->context.get();
  TRY(identify(context, identity));
  if (check == PeerCheck::kRequired) {
    TRY(trust(context, identity.roots, true));
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, note_refusal);
  }
  // Tickets hold the whole session, so the server keeps none.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  const unsigned char id[] = "quorate";
  SSL_CTX_set_session_id_context(context, id, sizeof(id) - 1);
  if (!native->alpn.empty()) SSL_CTX_set_alpn_select_cb(context, choose_protocol, native.get());
  return std::shared_ptr<TlsContext>(new TlsContext(std::move(native)));
}

}  // namespace quorate::net
