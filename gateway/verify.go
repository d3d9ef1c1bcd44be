package gateway

import (
	"cmp"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// asked is a call to another service whose proxy asks whether it may pass.
type asked struct{ product, method, path string }

// productOr is the product that a proxy asks for, or that of the door.
func (e *entry) productOr(door string) string {
	if e.asked != nil {
		return e.asked.product
	}
	return door
}

// verify is forward auth: a proxy asks here, with the client's Authorization header, and
// lets the call pass on a 200. What the client is travels back in headers. A call is
// charged if the proxy names its product; its outcome is not known here.
//
// The client's method and path are what the proxy says they are, and stand in the audit
// trail only.
func (g *Gateway) verify(w http.ResponseWriter, r *http.Request) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	product := cmp.Or(r.URL.Query().Get("product"), r.Header.Get("X-Keystile-Product"))
	if product != "" && !g.products.has(product) {
		return badProduct
	}
	entryOf(r).asked = &asked{
		product: product,
		method:  cmp.Or(r.Header.Get("X-Forwarded-Method"), r.Header.Get("X-Original-Method"), r.Method),
		path:    cmp.Or(r.Header.Get("X-Forwarded-Uri"), r.Header.Get("X-Original-Uri"), r.URL.Path),
	}
	h := w.Header()
	identity{caller.AppID, caller.UserID, caller.Scope, account.Tier}.set(h)
	entryOf(r).verdict.headers(h)
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, envelope{1, "success", verified{caller.AppID, caller.UserID, caller.Scope, account.Tier, product}})
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

// set writes the headers. One that would be empty is taken away, so that what was there
// before does not stay.
func (i identity) set(h http.Header) {
	for _, v := range []struct{ name, value string }{
		{HeaderClient, i.clientID}, {HeaderUser, i.sub}, {HeaderScope, i.scope}, {HeaderTier, i.tier},
	} {
		if h.Del(v.name); v.value != "" {
			h.Set(v.name, v.value)
		}
	}
}
