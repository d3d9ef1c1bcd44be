package legacy_test

import (
	"context"
	"testing"
)

// Old clients look users up by the six types, so they are told no other, whatever the record says.
func TestMethodWithoutATypeIsSelfToOldClients(t *testing.T) {
	h := newFixture(t)
	a := h.callback(h.code()).wants(t, "callback", 1)
	for method, want := range map[string]string{"feishu": "self", "badge": "self", "wx": "wx", "": "self"} {
		u := must(h.store.User(context.Background(), h.ada.Sub))(t)
		u.LoginType = method
		must(h.store.SaveUser(context.Background(), u))(t)
		if got := h.connect("query", "social_uid", a.text("social_uid")).wants(t, "query", 1).text("type"); got != want {
			t.Errorf("a user by %q is %s, want %s", method, got, want)
		}
	}
}
