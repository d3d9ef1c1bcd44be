package registry_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

// Decision 35.
func TestWebhookReceivesTheEventsOfItsCapability(t *testing.T) {
	h := newFixture(t)
	owner := h.user("dev", storage.RoleDeveloper)
	q := registry.Request{Member: "pets", UpstreamURL: "https://pets.example.com", WebhookURL: "https://hook.example.com",
		WebhookSecret: storage.NewSecret("whsec_c2VjcmV0"),
		AuthType:      "bearer", AuthSecret: storage.NewSecret("UPSTREAM-SECRET"),
		OpenAPI: json.RawMessage(`{"openapi":"3.0.0","paths":{"/pets":{"get":{},"post":{}}}}`)}
	must(h.registry.Register(t.Context(), owner, q))(t)
	q.OpenAPI = json.RawMessage(`{"openapi":"3.0.0","paths":{"/pets":{"get":{}}}}`)
	must(h.registry.Register(t.Context(), owner, q))(t)
	refused := q
	refused.OpenAPI = json.RawMessage(`{"openapi":"3.0.0","paths":{}}`)
	if _, err := h.registry.Register(t.Context(), owner, refused); err == nil {
		t.Fatal("an empty document is registered")
	}
	if err := h.registry.Remove(t.Context(), owner, "pets"); err != nil {
		t.Fatal(err)
	}
	var received []string
	for _, d := range must(h.store.Deliveries(t.Context(), "pets"))(t) {
		var body struct {
			Type string
			Data json.RawMessage
		}
		if err := json.Unmarshal(d.Payload, &body); err != nil {
			t.Fatal(err)
		}
		if d.URL != q.WebhookURL || !d.Secret.Equal("whsec_c2VjcmV0") {
			t.Errorf("%s goes to %s with %v", d.Event, d.URL, d.Secret)
		}
		received = append(received, fmt.Sprint(body.Type, " ", string(body.Data)))
	}
	want := []string{
		`capability.registered {"member":"pets","kind":"rest","tool_count":2}`,
		`capability.updated {"member":"pets","kind":"rest","tool_count":1}`,
		`capability.removed {"member":"pets","kind":"rest","tool_count":1}`,
	}
	if fmt.Sprint(received) != fmt.Sprint(want) {
		t.Errorf("told %q, want %q", received, want)
	}
}

func TestWebhookIsNotSentWithoutAURL(t *testing.T) {
	h := newFixture(t)
	q := registry.Request{Member: "pets", UpstreamURL: "https://pets.example.com", OpenAPI: json.RawMessage(`{"openapi":"3.0.0","paths":{"/pets":{"get":{}}}}`)}
	must(h.registry.Register(t.Context(), h.user("dev", storage.RoleDeveloper), q))(t)
	if received := must(h.store.Deliveries(t.Context(), "pets"))(t); len(received) != 0 {
		t.Errorf("told %v", received)
	}
}

func TestClosedRegistryTellsNobody(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) { c.NoDelivery = false })
	if err := h.registry.Close(t.Context()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if err := newFixture(t).registry.Close(t.Context()); err != nil {
		t.Errorf("Close() of one that delivers nothing = %v", err)
	}
}
