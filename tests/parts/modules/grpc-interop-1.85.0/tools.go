//go:build tools

// Package tools pins the gRPC project's own interoperability test server.
package tools

import _ "google.golang.org/grpc/interop/server"
