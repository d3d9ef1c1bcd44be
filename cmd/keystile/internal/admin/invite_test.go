package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

func TestInvitationIsMadeForSoManyDays(t *testing.T) {
	o := newOffice(t)
	o.target.Ways = ways(access.SignUpInvitation)
	for _, c := range []struct {
		words []string
		days  int
		role  string
	}{{nil, 7, ""}, {[]string{"--role", "admin", "--days", "90"}, 90, "admin"}, {[]string{"--days", "1"}, 1, ""}} {
		began := time.Now()
		v := o.must(append([]string{"user", "invite"}, c.words...)...)
		code, _ := v["invitation"].(string)
		i, err := o.target.Store.Invitation(t.Context(), handle.HashInvitation(code))
		if err != nil || i.Role != c.role || v["role"] != c.role ||
			v["page"] != "https://id.example.com/oauth/signin/signup" || i.ExpiresAt.Before(began.AddDate(0, 0, c.days).UTC()) ||
			i.ExpiresAt.After(time.Now().AddDate(0, 0, c.days).UTC()) {
			t.Errorf("%v printed %v and stored %+v, %v", c.words, v, i, err)
		}
		if u, err := o.users.SignUp(t.Context(), storage.User{Username: "ada" + c.role +
			time.Now().Format("150405.000000000")}, "battery staple", code); err != nil || u.Role != c.role {
			t.Errorf("signing up with it: %+v, %v", u, err)
		}
		for _, e := range o.trail {
			if strings.Contains(e.Detail, code) {
				t.Errorf("the audit trail holds the code: %q", e.Detail)
			}
		}
	}
	if len(o.trail) != 3 || !strings.HasPrefix(o.trail[0].Detail, "user invite ") {
		t.Errorf("the audit trail is %+v", o.trail)
	}
}

// A code that no page takes is not handed out: the operator learns what to do in place of it.
func TestInviteIsRefusedWhereNoPageTakesIt(t *testing.T) {
	for signUp, want := range map[string]string{access.SignUpClosed: "set signup to invitation",
		access.SignUpOpen: "anybody may become a user"} {
		o := newOffice(t)
		o.target.Ways = ways(signUp)
		o.wantFailure(2, want, "user", "invite")
		if len(o.trail) != 0 {
			t.Errorf("with sign-up %s the audit trail says %+v", signUp, o.trail)
		}
	}
}

func TestInviteRefusesWhatIsWrong(t *testing.T) {
	o := newOffice(t)
	o.target.Ways = ways(access.SignUpInvitation)
	for want, words := range map[string][]string{
		"from 1 to 90": {"--days", "0"}, "1 to 90": {"--days", "91"}, "--days": {"--days", "x"}, "role": {"--role", "root"},
	} {
		o.wantFailure(2, want, append([]string{"user", "invite"}, words...)...)
	}
}

// An address that an operator vouches for is a way in, and one that they take back is none.
func TestVerifiedAddressIsAWayIn(t *testing.T) {
	o := newOffice(t)
	ada, _ := o.user("ada"), o.user("bob")
	o.must("user", "set", "ada", "--email", "Ada@Example.com")
	if _, err := o.users.ByEmail(t.Context(), "ada@example.com"); err == nil {
		t.Error("an address that is not verified is a way in")
	}
	o.must("user", "set", "ada", "--email-verified")
	if u, err := o.users.ByEmail(t.Context(), "ada@example.com"); err != nil || u.Sub != ada ||
		u.Email != "ada@example.com" {
		t.Errorf("a verified address finds %+v, %v", u, err)
	}
	o.wantFailure(1, "belongs to another user", "user", "set", "bob", "--email", "ada@example.com", "--email-verified")
	o.must("user", "set", "ada", "--nickname", "A")
	if _, err := o.users.ByEmail(t.Context(), "ada@example.com"); err != nil {
		t.Errorf("another change took it away: %v", err)
	}
	o.must("user", "set", "ada", "--email", "new@example.com")
	if _, err := o.users.ByEmail(t.Context(), "ada@example.com"); err == nil {
		t.Error("the old address is a way in still")
	}
	o.wantFailure(2, "email address", "user", "set", "ada", "--email", "nowhere", "--email-verified")
}

func TestCommonPasswordIsRefusedHereToo(t *testing.T) {
	o := newOffice(t)
	o.user("ada")
	o.wantFailure(2, "first that are guessed", "user", "create", "--username", "bob", "--password", "Trustno1")
	o.wantFailure(2, "first that are guessed", "user", "set", "ada", "--password", "password1")
	o.wantFailure(2, "a username or an address", "user", "set", "ada", "--password", "someone12345", "--email",
		"someone12345@example.com")
}
