#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kube/client.h"
#include "node/pod_view.h"

namespace quorate::node {

// Tokens of a Pod's service account, for its files: bound to the Pod, renewed when four fifths of
// their time are over.
class PodTokens {
 public:
  PodTokens(rt::Runtime runtime, kube::Client& client) : runtime_(runtime), client_(client) {}

  // Asks for those that are missing or due. Does nothing for Pods without such sources.
  Task<Result<void>> renew(PodView pod, rt::Deadline deadline);
  [[nodiscard]] std::optional<std::string> find(const FileSource& source) const;
  // When the next one is due.
  [[nodiscard]] std::optional<Monotonic> due() const;

 private:
  struct Token {
    std::string text;
    Monotonic renew_at;
  };
  using Key = std::pair<std::string, std::chrono::seconds>;  // audience, expiration

  Task<Result<Token>> request(PodView pod, FileSource source, rt::Deadline deadline);

  rt::Runtime runtime_;
  kube::Client& client_;
  std::map<Key, Token> tokens_;
};

}  // namespace quorate::node
