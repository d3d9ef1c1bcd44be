package gateway

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// verify is forward auth: a proxy asks here, with the client's Authorization header, and
// lets the call pass on a 200. What the client is travels back in headers. A call is
// charged if the proxy names its product; its outcome is not known here.
//
// The product is what the query says, and never a header: proxies hand on the headers of
// their clients. The client's method and path are what a trusted proxy says they are, and
// stand in the audit trail only.
func (g *Gateway) verify(w http.ResponseWriter, r *http.Request) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	product, ok := productOf(r.URL.RawQuery)
	if !ok || product != "" && !g.products.has(product) {
		return badProduct
	}
	entryOf(r).verified = g.verifiedCallOf(r, product)
	h := w.Header()
	identity{caller.AppID, caller.UserID, caller.Scope, account.Tier}.answer(h)
	entryOf(r).verdict.Headers(h)
	return reply.Success(w, verified{caller.AppID, caller.UserID, caller.Scope, account.Tier, product})
}

type verified struct {
	ClientID string `json:"client_id"`
	Sub      string `json:"sub"` // "" for an application
	Scope    string `json:"scope"`
	Tier     string `json:"tier"`
	Product  string `json:"product"`
}

// identity is the caller as a service behind a proxy is told of it.
type identity struct{ clientID, sub, scope, tier string }

// The headers that tell a service who calls. Whatever stands in front of a service must
// take away those that a client has sent.
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

// answer writes every header, also those that are empty: a proxy that copies only what it
// finds would otherwise leave what the client says of itself.
func (i identity) answer(h http.Header) {
	for _, v := range i.each() {
		h.Set(v.name, v.value)
	}
}

// set writes the headers of a request. One that would be empty is taken away, so that what
// was there before does not stay.
func (i identity) set(h http.Header) {
	for _, v := range i.each() {
		if v.value == "" {
			delete(h, v.name) // the names are as net/http has them
		} else {
			h[v.name] = []string{v.value}
		}
	}
}
