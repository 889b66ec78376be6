#pragma once

#include "net/http.h"

namespace quorate::kube {

// The seam of all Kubernetes traffic: requests in, answers and streams out, with the errors of
// net::HttpClient. Implementations: HttpApi (http_api.h) speaks to a real server; the in-memory API
// server answers in process.
//
// Paths begin at the server's root (`/api/v1/...`). Credentials, the server's address and the user
// agent are the implementation's business, never the caller's.
using Api = net::HttpClient;

}  // namespace quorate::kube
