package console_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// Operators see what waits for them, and never where it goes but for the host: the path may be a key.
func TestOperatorsSeeWhatTheirWebhookHasNotBeenTold(t *testing.T) {
	h := newFixture(t, operates)
	root := h.testUser("root", storage.RoleAdmin)
	if page := h.open("/console/events", root.cookie).Body.String(); !strings.Contains(page, "keystile webhook set") {
		t.Errorf("without a webhook the page does not say how to set one: %s", page)
	}
	if _, err := h.store.SetUserWebhook(t.Context(), "https://hooks.example.com/key-of-ours", false); err != nil {
		t.Fatal(err)
	}
	eve := h.testUser("eve", "")
	w := h.open("/api/console/events", root.cookie)
	var is struct {
		Data struct {
			Host   string
			Events []struct {
				Event   string
				Waiting bool
				NextAt  *string `json:"next_at"`
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &is); err != nil || is.Data.Host != "hooks.example.com" {
		t.Errorf("it answers %s, %v", w.Body, err)
	}
	if e := is.Data.Events; len(e) != 1 || e[0].Event != "user.created" || !e[0].Waiting || e[0].NextAt == nil {
		t.Errorf("after one user was made the events are %+v", e)
	}
	page := h.open("/console/events", root.cookie).Body.String()
	for text, want := range map[string]bool{"user.created": true, "hooks.example.com": true, "key-of-ours": false,
		eve.Sub: false} {
		if strings.Contains(page, text) != want || !want && strings.Contains(w.Body.String(), text) {
			t.Errorf("that %q is shown should be %v: %s", text, want, page)
		}
	}
	if page := h.open("/console/events?client_id=ksother", root.cookie).Body.String(); strings.Contains(page,
		"user.created") || !strings.Contains(page, "ksother") {
		t.Errorf("of an application it shows %s", page)
	}
}
