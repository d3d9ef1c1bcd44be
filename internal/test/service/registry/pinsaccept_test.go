package registry_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// A change that came after the one that was shown is not accepted with it.
func TestAcceptTakesOnlyWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, mina := pinned(t, "")
		accept := func(digest string) int {
			_, err := h.registry.AcceptPins(t.Context(), mina, "m", nil, digest)
			return refusedWith(err)
		}
		h.found("m", found("search", "Harmless"))
		shown, err := h.registry.ShowPins(t.Context(), mina, "m")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Hour) // the owner would be told of the next change
		h.found("m", found("search", "EVIL"))
		if a, b := accept(shown.Digest), accept(""); a != 409 || b != 409 {
			t.Errorf("what came after it was shown is accepted: %d by the digest, %d without", a, b)
		}
		h.wantAccepted("after that", "search Search")
		if shown, err = h.registry.ShowPins(t.Context(), mina, "m"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		h.found("m", found("search", "Harmless")) // the first text, and by now the owner has seen another
		if a, b := accept(shown.Digest), accept(""); a != 409 || b != 409 {
			t.Errorf("what has come back is accepted: %d by the digest, %d without", a, b)
		}
		if shown, err = h.registry.ShowPins(t.Context(), mina, "m"); err != nil {
			t.Fatal(err)
		}
		if status := accept(shown.Digest); status != 0 {
			t.Errorf("what was shown is refused: %d", status)
		}
		h.wantAccepted("after it was shown", "search Harmless")
		h.found("m", found("search", "Once"))
		if status := accept(""); status != 0 {
			t.Errorf("what alone was held since then is refused: %d", status)
		}
		h.wantAccepted("at last", "search Once")
	})
}

func TestAcceptingByNameLeavesTheRestHeld(t *testing.T) {
	h, mina := pinned(t, "")
	h.found("m", found("a", "A"), found("b", "B")) // search is gone
	if _, err := h.registry.AcceptPins(t.Context(), mina, "m", []string{"b"}, ""); err != nil {
		t.Fatal(err)
	}
	h.wantAccepted("by name", "search Search", "b B")
	left, err := h.registry.ShowPins(t.Context(), mina, "m")
	if err != nil || len(left.Tools) != 1 || left.Tools[0].Name != "a" || !slices.Equal(left.Gone, []string{"search"}) {
		t.Errorf("left are %+v, %v", left, err)
	}
	if len(h.notices) != 1 {
		t.Errorf("%d notices, want none of what was left on purpose", len(h.notices))
	}
	if live := h.found("m", found("a", "A"), found("b", "B")); len(live) != 1 || len(h.notices) != 1 {
		t.Errorf("live are %v after %d notices", live, len(h.notices))
	}
	if _, err := h.registry.AcceptPins(t.Context(), mina, "m", nil, left.Digest); err != nil {
		t.Fatal(err)
	}
	h.wantAccepted("all, without what is gone", "b B", "a A")
	if c, err := h.store.Capability(t.Context(), "m"); err != nil || c.ToolCount != 2 {
		t.Errorf("the capability is %+v, %v", c, err)
	}
}

func TestPinsHeldAreSeenAndAcceptedByTheOwnerAlone(t *testing.T) {
	h, _ := pinned(t, "")
	h.found("m", found("search", "Changed"))
	for name, role := range map[string]string{"ada": storage.RoleDeveloper, "aud": storage.RoleAuditor, "eve": ""} {
		other := h.user(name, role)
		if _, err := h.registry.ShowPins(t.Context(), other, "m"); refusedWith(err) != 403 {
			t.Errorf("%s is shown what is held: %v", name, err)
		}
		if _, err := h.registry.AcceptPins(t.Context(), other, "m", nil, ""); refusedWith(err) != 403 {
			t.Errorf("%s accepts what is held: %v", name, err)
		}
	}
	h.wantAccepted("after all that", "search Search")
	root := h.user("root", storage.RoleAdmin)
	if _, err := h.registry.ShowPins(t.Context(), root, "m"); err != nil {
		t.Error(err)
	}
	if _, err := h.registry.AcceptPins(t.Context(), root, "m", nil, ""); err != nil {
		t.Error(err)
	}
	h.wantAccepted("by an administrator", "search Changed")
}

func TestAcceptingTakesAFreshSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, mina := pinned(t, "")
		cookie := h.visitor(mina)
		h.found("m", found("search", "Changed"))
		time.Sleep(11 * time.Minute)
		a := h.request("POST", all+"/m/pins", cookie, strings.NewReader(`{"accept":"all"}`), "Content-Type",
			"application/json")
		h.want(a, 403, 4031, "an old sign-in")
		h.wantAccepted("by an old sign-in", "search Search")
		a = h.request("POST", all+"/m/pins", h.visitor(mina), strings.NewReader(`{"accept":"all"}`), "Content-Type",
			"application/json")
		h.want(a, 200, 1, "a fresh one")
		h.wantAccepted("by a fresh one", "search Changed")
	})
}
