// Command coredns is CoreDNS 1.14.7 with the plugins that a cluster's own DNS needs, and no others.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

// The order in which plugins see a request.
func init() { dnsserver.Directives = []string{"errors", "ready", "cache", "kubernetes"} }

func main() { coremain.Run() }
