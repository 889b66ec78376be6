//go:build tools

// Package tools pins Helm 3.22.0, which the chart's tests run.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
