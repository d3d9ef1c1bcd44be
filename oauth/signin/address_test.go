package signin

import (
	"context"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// An address of a provider is passed on, as one that nobody here has confirmed. It leads to no account: not by its
// owner's code, and not by another provider.
func TestAddressOfAProviderIsPassedOnUnconfirmed(t *testing.T) {
	h := newProviderFixture(t, nil)
	u, _ := h.user(h.arrive("oidc", "lin"))
	if u.Email != "lin@example.com" || u.EmailVerified {
		t.Errorf("the user has %q, verified %v", u.Email, u.EmailVerified)
	}
	store := h.users.Users.(*users.StoreUsers)
	if found, err := store.ByEmail(context.Background(), "lin@example.com"); err == nil {
		t.Errorf("the address, which nobody has confirmed, leads to %+v", found)
	}
	other, err := store.Connected(users.WithAdmission(context.Background(), users.Admission{Open: true}), "other",
		connector.Profile{Subjects: []string{"o:1"}, Email: "LIN@example.com", ConfirmedEmail: "LIN@example.com"})
	if must(t, err); other.Sub == u.Sub || other.Email != "lin@example.com" || !other.EmailVerified {
		t.Errorf("by a provider that is trusted: %+v", other)
	}
	if again, _ := h.user(h.arrive("oidc", "lin")); again.Sub != u.Sub || again.EmailVerified {
		t.Errorf("the first one again: %+v", again)
	}
}

// An address that a trusted provider has verified is its user's, unless it is somebody else's already.
func TestTrustedAddressIsConfirmedAndJoinsNoAccount(t *testing.T) {
	h := newFixture(t, nil)
	ctx, store := users.WithAdmission(context.Background(), users.Admission{Open: true}), h.users.Users.(*users.StoreUsers)
	owner, err := store.CreateByEmail(ctx, "ada@example.com")
	must(t, err)
	p := connector.Profile{Subjects: []string{"o:1"}, Email: "ada@example.com", ConfirmedEmail: "ada@example.com"}
	for range 2 { // made, and found
		if u, err := store.Connected(ctx, "oidc", p); err != nil || u.Sub == owner.Sub || u.Email != "" {
			t.Errorf("a trusted provider with somebody else's address: %+v, %v", u, err)
		}
	}
	p = connector.Profile{Subjects: []string{"o:2"}, Nickname: "Lin", Email: "lin@example.com"}
	before, err := store.Connected(ctx, "oidc", p)
	if must(t, err); before.Email != p.Email || before.EmailVerified {
		t.Errorf("without trust: %+v", before)
	}
	p.ConfirmedEmail, p.Gender = p.Email, "female"
	after, err := store.Connected(ctx, "oidc", p)
	if must(t, err); after.Sub != before.Sub || !after.EmailVerified {
		t.Errorf("with trust: %+v", after)
	}
	if found, err := store.ByEmail(ctx, p.Email); err != nil || found.Sub != after.Sub {
		t.Errorf("the confirmed address leads to %+v, %v", found, err)
	}
	p.Email, p.ConfirmedEmail = "new@example.com", "new@example.com"
	if kept, err := store.Connected(ctx, "oidc", p); err != nil || kept.Email != "lin@example.com" {
		t.Errorf("a confirmed address was replaced: %+v, %v", kept, err)
	}
	two := connector.Profile{Subjects: []string{"o:3"}, Email: "eve@example.com", ConfirmedEmail: "eve2@example.com"}
	if u, err := store.Connected(ctx, "oidc", two); err != nil || u.Email != two.Email || u.EmailVerified {
		t.Errorf("an address is confirmed by the confirmation of another: %+v, %v", u, err)
	}
	for _, none := range []string{"", "lin", "lin@localhost", "a b@example.com", "李@example.com"} {
		p := connector.Profile{Subjects: []string{"o:none" + none}, Email: none, ConfirmedEmail: none}
		if u, err := store.Connected(ctx, "oidc", p); err != nil || u.Email != "" {
			t.Errorf("%q: %+v, %v", none, u, err)
		}
	}
	var login storage.Login
	if login, err = h.store.Login(ctx, storage.LoginEmail, "ada@example.com"); err != nil || login.UserID != owner.Sub {
		t.Errorf("the owner's address is %+v's, %v", login, err)
	}
}
