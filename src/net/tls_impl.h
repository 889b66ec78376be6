#pragma once

// Internal: the only header of this folder that includes OpenSSL. Included by tls_*.cc alone.

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/tls.h"

namespace quorate::net {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* native) const {
    Free(native);
  }
};
using OwnedContext = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using OwnedSsl = std::unique_ptr<SSL, Freed<SSL_free>>;
using OwnedSession = std::unique_ptr<SSL_SESSION, Freed<SSL_SESSION_free>>;
using OwnedBio = std::unique_ptr<BIO, Freed<BIO_free>>;
using OwnedCertificate = std::unique_ptr<X509, Freed<X509_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// Tickets of servers spoken to before, by endpoint and server name, newest only. Used once each.
class SessionStore {
 public:
  void keep(const std::string& key, OwnedSession session);
  [[nodiscard]] OwnedSession take(const std::string& key);

 private:
  std::map<std::string, OwnedSession> sessions_;
};

struct TlsContext::Native {
  OwnedContext context;
  bool server = false;
  std::string alpn;  // as on the wire: each name behind its length
  SessionStore sessions;
  std::uint64_t resumed = 0;
};

// What OpenSSL's callbacks leave for the stream that they belong to: an SSL's application data.
struct SslNotes {
  std::string session_key;    // empty = its tickets are not kept
  std::string expected_name;  // of the server; empty on servers
  std::string refusal;        // why the peer's certificate was not accepted
};

// ALPN names as on the wire.
std::string alpn_wire(const std::vector<std::string>& names);

// What OpenSSL's error queue says last; empties it.
std::string last_openssl_error();

// OpenSSL's verification callback: leaves the reason in the SslNotes.
int note_refusal(int accepted, X509_STORE_CTX* verification);
// Empty if a resumed session's certificate is still good for this name; verification itself is
// not repeated on resumption.
std::string refusal_of_resumed(X509* certificate, const std::string& name, std::time_t now);
// The failure of an operation on `ssl` that returned `code`, `number` being errno after it.
Error tls_error(SSL* ssl, int code, int number);

std::string pem_of(X509* certificate);

}  // namespace quorate::net
