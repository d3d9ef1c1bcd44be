package clientip // import "github.com/keystile/keystile/gateway/clientip"

import "net/http"
import "net/netip"

func Behind(proxies ...netip.Prefix) func(*http.Request) netip.Addr
