package gateway_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/apidoc/witness"
	"github.com/keystile/keystile/internal/dialogue"
	"github.com/keystile/keystile/storage"
)

func TestDialogues(t *testing.T) {
	document := witness.New(t, newHouse(t).gateway.OpenAPI())
	dialogue.Prove(t, issuer, func(t *testing.T, _ string) (http.Handler, map[string]string) {
		h, values := stage(t)
		return document.Watch(t, h), values
	})
	document.SawEverything(t)
}

// stage is the house as dialogues find it: an application of each tier, with a token.
func stage(t *testing.T) (http.Handler, map[string]string) {
	h := newHouse(t)
	h.mux.Handle("/payment/", h.gateway.Guard(gateway.Payment, http.HandlerFunc(service)))
	h.mux.HandleFunc("/test/trail", func(w http.ResponseWriter, r *http.Request) {
		for _, record := range must(h.store.Records(r.Context(), 0, 100))(t) {
			fmt.Fprintf(w, "%s\n", record.Data)
		}
	})
	h.mux.HandleFunc("/test/approve", func(w http.ResponseWriter, r *http.Request) {
		must(h.gateway.Approve(r.Context(), r.FormValue("order"), "root", time.Time{}))(t)
	})
	owner := h.person("ada", "")
	own := must(h.store.SaveApp(t.Context(), storage.App{Name: "Own", Domains: []string{"own.example.com"}, Owner: h.person("bob", "").Sub}))(t)
	enterprise := must(h.store.SaveApp(t.Context(), storage.App{Name: "Big", Domains: []string{"big.example.com"}, Tier: storage.TierEnterprise}))(t)
	return h.handler, map[string]string{
		"client_id": h.app.ID, "client_secret": h.app.AppKey().Reveal(), "token": h.bearer(h.app),
		"white_label_id": h.other.ID, "white_label_secret": h.other.AppKey().Reveal(), "white_label_token": h.bearer(h.other),
		"enterprise_token": h.bearer(enterprise), "owner_token": owner.bearer, "own_id": own.ID, "own_token": h.bearer(own),
	}
}
