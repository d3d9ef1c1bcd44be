package gateway

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// verify implements forward auth: a proxy sends the client's Authorization header here,
// and lets the call pass on a 200. The caller's identity is returned in headers. A call is
// charged if the proxy names its product; its outcome is not known here.
//
// The product comes from the query, never from a header: proxies hand on the headers of
// their clients. The client's method and path are those that a trusted proxy reports, and
// are used for the audit trail only.
func (g *Gateway) verify(w http.ResponseWriter, r *http.Request) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	product, ok := productOf(r.URL.RawQuery)
	if !ok || product != "" && !g.products.has(product) {
		return badProduct
	}
	e := entryOf(r)
	e.verified = g.verifiedCallOf(r, product)
	g.readVerifiedKey(r, e)
	h := w.Header()
	identity{caller.AppID, caller.UserID, caller.Scope, account.Tier}.answer(h)
	e.verdict.Headers(h)
	return reply.Success(w, verified{caller.AppID, caller.UserID, caller.Scope, account.Tier, product})
}

type verified struct {
	ClientID string `json:"client_id"`
	Sub      string `json:"sub"` // "" for an application
	Scope    string `json:"scope"`
	Tier     string `json:"tier"`
	Product  string `json:"product"`
}

// identity is the caller as reported to a service behind a proxy.
//
// Every header of it is in the answer, also an empty one: proxies that copy the headers they find replace the
// client's.
type identity struct{ clientID, sub, scope, tier string }

// The headers that identify the caller to a service. A proxy in front of a service must
// remove those that a client has sent.
const (
	HeaderClient = "X-Keystile-Client"
	HeaderUser   = "X-Keystile-User"
	HeaderScope  = "X-Keystile-Scope"
	HeaderTier   = "X-Keystile-Tier"
)

func (i identity) each() [4]struct{ name, value string } {
	return [...]struct{ name, value string }{
		{HeaderClient, i.clientID}, {HeaderUser, i.sub}, {HeaderScope, i.scope}, {HeaderTier, i.tier},
	}
}

// answer writes every header, even the empty ones: a proxy that copies only those it finds
// would otherwise keep the client's.
func (i identity) answer(h http.Header) {
	for _, v := range i.each() {
		h.Set(v.name, v.value)
	}
}
