#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "json/document.h"
#include "kube/api.h"
#include "rt/signal.h"

// What an operator asks of the API server, and where it can be made to fail.
namespace quorate::slice {

// A request that changes something. Leases and Events are not counted: the ones are renewed for
// ever, the others are for people.
struct Write {
  std::string what;  // "POST pods c-0", "PUT etcdclusters/status c"
  json::Value body;
  int status = 0;    // of the server's answer, whether the operator got it or not; 0: none
  std::string uid;   // of the object in that answer
  bool sent = true;  // false: the operator died before

  // The server did not say what became of it: it may have taken effect.
  [[nodiscard]] bool unanswered() const { return sent && status == 0; }
  [[nodiscard]] bool took_effect() const { return status >= 200 && status < 300; }
  [[nodiscard]] bool creates() const { return what.starts_with("POST "); }
  [[nodiscard]] bool is_status() const { return what.find("/status ") != std::string::npos; }
};

// What happens at the n-th write of that kind.
struct Fault {
  enum class Kind {
    kCrashBefore,  // the operator dies before it has sent the request
    kCrashAfter,   // the server has taken it; the operator dies before the answer
    kLoseAnswer,   // the server has taken it; the operator lives, and is not told
  };
  Kind kind{};
  std::string what;  // as in Write
  int occurrence = 0;

  [[nodiscard]] std::string text() const;
};

// The life of one operator process: over when it has crashed. Whoever calls out of a process whose
// life is over waits until it is torn down, as the dead do.
class Life {
 public:
  explicit Life(rt::Runtime runtime) : changed_(runtime) {}

  void end();
  [[nodiscard]] bool over() const { return over_; }
  // Ends when it is over, or at the deadline.
  Task<Result<void>> wait_until_over(rt::Deadline deadline);
  // Until the caller is cancelled.
  Task<Error> stand_still();

 private:
  rt::Signal changed_;
  bool over_ = false;
};

// Everything that one or several operator processes, one after the other, asked for.
class Ledger {
 public:
  [[nodiscard]] const std::vector<Write>& writes() const { return writes_; }
  // Requests that the server did not allow: "POST pods c-0: 403 ...".
  [[nodiscard]] const std::vector<std::string>& denied() const { return denied_; }
  // How many writes of this name the server has carried out.
  [[nodiscard]] int count_effects(std::string_view what) const;

  void arm(Fault fault) { fault_ = std::move(fault); }
  // At the first write that is meant, after the server has taken it and before the operator is
  // told: somebody else does something.
  void interrupt(std::function<bool(const Write&)> meant, std::function<Task<Result<void>>()> act) {
    interruption_ = Interruption{std::move(meant), std::move(act)};
  }
  [[nodiscard]] bool struck() const { return struck_; }

 private:
  friend class TappedApi;
  struct Interruption {
    std::function<bool(const Write&)> meant;
    std::function<Task<Result<void>>()> act;
  };
  // What is to be done after this write; once.
  std::optional<Interruption> take_interruption(std::optional<std::size_t> write);
  std::optional<std::size_t> begin(const net::Request& request);
  // The fault that is to happen at this write, which has begun.
  std::optional<Fault::Kind> strike(std::size_t write);
  void note(std::optional<std::size_t> write, const net::Response& answer);
  void note_denied(const net::Request& request, int status, const std::string& body);

  std::vector<Write> writes_;
  std::vector<std::string> denied_;
  std::optional<Fault> fault_;
  std::optional<Interruption> interruption_;
  bool struck_ = false;
};

// The API as one process sees it: passes everything on, keeps the ledger, and carries faults out.
class TappedApi : public kube::Api {
 public:
  TappedApi(kube::Api& inner, Ledger& ledger, Life& life)
      : inner_(inner), ledger_(ledger), life_(life) {}

  Task<Result<net::Response>> call(net::Request request, rt::Deadline deadline,
                                   std::size_t limit = 64 << 20) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request request,
                                                          rt::Deadline deadline) override;

 private:
  kube::Api& inner_;
  Ledger& ledger_;
  Life& life_;
};

}  // namespace quorate::slice
