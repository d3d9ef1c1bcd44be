package signin

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// wrapped are the users of a Store, as a host has changed them.
type wrapped struct{ *users.StoreUsers }

func TestWaysAreAllWaysInAndWhomEachMakesAUserOf(t *testing.T) {
	ways := []connector.Connector{badge{"badge", "Badge"}, badge{"staff", "Staff"}}
	store := users.New(nil, nil)
	changed := store.Host()
	changed.Users = wrapped{store}
	for name, c := range map[string]struct {
		config  Config
		want    string
		tools   string
		invites string
	}{
		"nothing said": {Config{}, "self (closed)", access.DefaultEveryone, ""},
		"connectors": {Config{Connectors: ways}, "self (closed), badge (closed), staff (closed)", access.DefaultEveryone,
			""},
		"one of them is open": {Config{Connectors: ways, ConnectorSignUp: map[string]string{"staff": SignUpOpen}},
			"self (closed), badge (closed), staff (open)", access.DefaultOwner, ""},
		"one of them by invitation": {Config{Connectors: ways, ConnectorSignUp: map[string]string{"staff": SignUpInvitation}},
			"self (closed), badge (closed), staff (invitation)", access.DefaultOwner, "/oauth/signin"},
		"open but for one": {Config{SignUp: SignUpOpen, Mailer: &fakeMailer{}, Connectors: ways,
			ConnectorSignUp: map[string]string{"staff": SignUpClosed}},
			"self (open), email (open), badge (open), staff (closed)", access.DefaultOwner, ""},
		"by invitation": {Config{SignUp: SignUpInvitation, Mailer: &fakeMailer{}, Connectors: ways[:1]},
			"self (invitation), email (invitation), badge (invitation)", access.DefaultOwner, "/oauth/signin/signup"},
		"the Store's users by name": {Config{Users: store.Host()}, "self (closed)", access.DefaultEveryone, ""},
		"a host's own users": {Config{Users: users.Host{Users: store, Connected: store}, Connectors: ways[:1]},
			"self (closed), badge (open), users (open)", access.DefaultOwner, ""},
		"which the host alone makes": {Config{Users: users.Host{Users: store, Closed: true}}, "self (closed)",
			access.DefaultEveryone, ""},
		"the Store's, changed": {Config{Users: changed, Connectors: ways[:1]},
			"self (closed), badge (closed), users (open)", access.DefaultOwner, ""},
	} {
		c.config.BaseURL = "https://id.example.com"
		ways := c.config.Ways()
		if ways.String() != c.want || ways.Default() != c.tools {
			t.Errorf("%s: %s, and tools are %s's; want %s, %s's", name, ways, ways.Default(), c.want, c.tools)
		}
		want := ""
		if c.invites != "" {
			want = c.config.BaseURL + c.invites
		}
		if page := c.config.InvitationPage(); page != want || (ways.CheckInvitation() == nil) != (want != "") {
			t.Errorf("%s: invitations are used at %q, want %q; %v", name, page, want, ways.CheckInvitation())
		}
	}
	if got := access.Ways(nil).Default(); got != access.DefaultOwner {
		t.Errorf("where nothing is known tools are %s's", got)
	}
}

func TestConnectorSignUpSaysNothingOfWhatThereIsNot(t *testing.T) {
	h := newBadgeFixture(t, nil)
	for want, c := range map[string]Config{
		`"wx" is the Name of no Connector`: {ConnectorSignUp: map[string]string{"wx": SignUpOpen}},
		"neither closed": {Connectors: []connector.Connector{badge{"badge", "B"}},
			ConnectorSignUp: map[string]string{"badge": "yes"}},
		"give Invited to them": {Users: users.Host{Users: h.users.Users, Connected: h.users.Connected},
			Connectors: []connector.Connector{badge{"badge", "B"}}, ConnectorSignUp: map[string]string{"badge": SignUpClosed}},
	} {
		c.BaseURL, c.Store = origin, h.store
		if _, err := New(context.Background(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A person whom no setting admits does not become a user, whatever code calls Connected.
func TestConnectedMakesAUserOnlyOfWhoIsAdmitted(t *testing.T) {
	h := newFixture(t, nil)
	ctx, p := context.Background(), connector.Profile{Subjects: []string{"o:app:1"}}
	store := h.users.Users.(*users.StoreUsers)
	if u, err := store.Connected(ctx, "badge", p); err == nil {
		t.Errorf("nobody said a word, and %+v is made", u)
	}
	if u, err := store.Connected(users.WithAdmission(ctx, users.Admission{Invitation: handle.HashInvitation("AAAA")}),
		"badge", p); err == nil {
		t.Errorf("with an invitation that is none %+v is made", u)
	}
	made, err := store.Connected(users.WithAdmission(ctx, users.Admission{Open: true}), "badge", p)
	must(t, err)
	if again, err := store.Connected(ctx, "badge", p); err != nil || again.Sub != made.Sub {
		t.Errorf("who is a user already is %+v, %v", again, err)
	}
}

// A host that embeds the Store's users and changes who comes in keeps its say.
type choosy struct{ *users.StoreUsers }

func (c choosy) Connected(ctx context.Context, method string, p connector.Profile) (storage.User, error) {
	if strings.HasSuffix(p.Subjects[0], "13") {
		return storage.User{}, storage.ErrNotFound
	}
	return c.StoreUsers.Connected(ctx, method, p)
}

func TestUsersThatWrapTheStoresObeySignUpToo(t *testing.T) {
	for number, want := range map[string]map[string]int{"7": {SignUpOpen: 303, SignUpClosed: 401},
		"13": {SignUpOpen: 401, SignUpClosed: 401}} {
		for signUp, code := range want {
			h := newBadgeFixture(t, func(c *Config) {
				c.Users = hostOf(choosy{users.New(c.Store, nil)})
				c.ConnectorSignUp = map[string]string{"badge": signUp}
			})
			if a := h.pass(h.do(get(web.WithPath+"badge")), number); a.Code != code {
				t.Errorf("%s: badge %s = %d, want %d", signUp, number, a.Code, code)
			}
		}
	}
}

func TestInvitationIsTakenWithACodeByMail(t *testing.T) {
	inTime(t, SignUpInvitation, func(t *testing.T, h *fullFixture) {
		code, path := h.invite(t, storage.RoleDeveloper, time.Hour), otp.SignInFlow.Path
		b := h.browser()
		b.wants(t, "the page", b.get(path), 200, `name="invitation"`)
		b.wants(t, "another page", b.get(otp.ResetFlow.Path), 200, `name="address"`)
		if strings.Contains(b.last.body, `name="invitation"`) {
			t.Error("a new password asks for an invitation")
		}
		b.wants(t, "a wrong one", b.post(path, "address", "ada@example.com", "invitation", handle.NewInvitation()), 401,
			"This invitation is not right")
		if n := len(h.mails()); n != 0 {
			t.Fatalf("%d mails", n)
		}
		b.requestCode(t, otp.SignInFlow, "ada@example.com", "invitation", strings.ToLower(code), "query", authorizeQuery)
		other := h.browser()
		other.requestCode(t, otp.SignInFlow, "bob@example.com", "invitation", code)
		sent := h.mails()
		for _, to := range []string{"ada@example.com", "bob@example.com"} {
			if !slices.ContainsFunc(sent, func(m sentMail) bool { return m.to == to }) {
				t.Errorf("nothing was sent to %s", to)
			}
		}
		of := func(to string) string {
			i := slices.IndexFunc(sent, func(m sentMail) bool { return m.to == to })
			return sixDigits.FindString(sent[i].text)
		}
		if a := b.post(otp.SignInFlow.CodePath(), "code", of("ada@example.com")); a.Code != 303 {
			t.Fatalf("the code = %d %s", a.Code, a.body)
		}
		if u, err := h.store.User(t.Context(), h.signedIn(b).UserID); err != nil || u.Email != "ada@example.com" ||
			u.Role != storage.RoleDeveloper {
			t.Errorf("the user is %+v, %v", u, err)
		}
		other.wants(t, "an invitation that somebody else has used",
			other.post(otp.SignInFlow.CodePath(), "code", of("bob@example.com")), 400,
			"This invitation is not right, or has been used")
	})
}
