package signin

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// An address that a provider names opens no account that is here, and becomes nobody's address: its
// owner would come into an account in which somebody else may be waiting.
func TestAddressOfAProviderLinksNothingAndConfirmsNothing(t *testing.T) {
	for _, person := range []string{"lin", "omar"} { // verified there, and not
		for _, name := range []string{"oidc", "github"} {
			h := newProviderFixture(t, nil)
			address := person + "@example.com"
			owner, err := h.users.Users.(*users.StoreUsers).CreateByEmail(context.Background(), address)
			must(t, err)
			j := h.start(name, authorizeQuery)
			u, _ := h.user(j.open(j.choose(person)))
			if u.Sub == owner.Sub || u.Email != "" || u.Username == owner.Username {
				t.Errorf("%s as %s comes in as %+v", name, person, u)
			}
			if l, err := h.store.Login(context.Background(), storage.LoginEmail, address); err != nil || l.UserID != owner.Sub {
				t.Errorf("%s as %s: the address is %+v's, %v", name, person, l, err)
			}
		}
	}
}

// Two providers do not know each other: the same address, and the same sub, are two users.
func TestSameSubOfTwoIssuersIsTwoUsers(t *testing.T) {
	h := newProviderFixture(t, nil)
	ctx := context.Background()
	a, err := h.users.Users.(*users.StoreUsers).Connected(users.WithAdmission(ctx, users.Admission{Open: true}), "oidc",
		connector.Profile{Subjects: []string{"i:https://a.example#1"}, Nickname: "A"})
	must(t, err)
	b, err := h.users.Users.(*users.StoreUsers).Connected(users.WithAdmission(ctx, users.Admission{Open: true}), "oidc",
		connector.Profile{Subjects: []string{"i:https://b.example#1"}, Nickname: "A"})
	must(t, err)
	c, err := h.users.Users.(*users.StoreUsers).Connected(users.WithAdmission(ctx, users.Admission{Open: true}), "other",
		connector.Profile{Subjects: []string{"i:https://a.example#1"}, Nickname: "A"})
	must(t, err)
	if a.Sub == b.Sub || a.Sub == c.Sub || b.Sub == c.Sub {
		t.Errorf("users %s, %s and %s", a.Sub, b.Sub, c.Sub)
	}
}

// A return of one provider brings nothing at the address of another, and a state of another browser
// nothing at all; the code goes nowhere.
func TestVisitsToTwoProvidersDoNotMix(t *testing.T) {
	h := newProviderFixture(t, nil)
	for _, pair := range [][2]string{{"oidc", "github"}, {"github", "oidc"}, {"wx", "oidc"}} {
		j := h.start(pair[0], authorizeQuery)
		target := j.choose("lin")
		if a := j.open(strings.Replace(target, "with/"+pair[0], "with/"+pair[1], 1)); a.Code != http.StatusBadRequest ||
			a.cookie() != "" {
			t.Errorf("a return of %s at %s = %d", pair[0], pair[1], a.Code)
		}
		other := h.start(pair[0], authorizeQuery)
		if a := other.open(target); a.Code != http.StatusBadRequest || a.cookie() != "" {
			t.Errorf("a return of %s in another browser = %d", pair[0], a.Code)
		}
		at, err := url.Parse(target)
		must(t, err)
		q := at.Query()
		q.Set("state", other.query.Get("state")) // the code of somebody else, in a visit of one's own
		if a := other.open(at.Path + "?" + q.Encode()); pair[0] != "wx" &&
			(a.Code != http.StatusBadRequest || a.cookie() != "") {
			t.Errorf("a code of %s injected into another visit = %d", pair[0], a.Code)
		}
	}
}

func TestSignInRefusedByTheOperatorSaysSo(t *testing.T) {
	h := newProviderFixture(t, func(c *Config) {
		c.Connectors[7] = refusing{c.Connectors[7], connector.ErrStranger}
	})
	j := h.start("oidc", authorizeQuery)
	if a := j.open(j.choose("lin")); a.Code != http.StatusUnauthorized || a.cookie() != "" ||
		!strings.Contains(a.body, "Only members of the organization can sign in") {
		t.Errorf("a stranger = %d %s", a.Code, a.body)
	}
}

func TestProviderThatIsAwayIsSaidBeforeTheBrowserLeaves(t *testing.T) {
	h := newProviderFixture(t, func(c *Config) {
		c.Connectors[7] = unprepared{c.Connectors[7],
			connector.NewTrouble("oidc", "", "away for now", nil)}
	})
	a := h.do(get("/oauth/signin/with/oidc?" + url.Values{"query": {authorizeQuery}}.Encode()))
	if a.Code != http.StatusServiceUnavailable || a.Header().Get("Retry-After") == "" ||
		a.Header().Get("Location") != "" || !strings.Contains(h.log.String(), "away for now") {
		t.Errorf("leaving for a provider that is away = %d %s", a.Code, a.body)
	}
}

// refusing lets nobody in.
type refusing struct {
	connector.Connector
	err error
}

func (r refusing) Finish(context.Context, string, url.Values) (connector.Profile, error) {
	return connector.Profile{}, r.err
}

// unprepared cannot be asked where it sends browsers.
type unprepared struct {
	connector.Connector
	err error
}

func (u unprepared) Begin(context.Context, connector.Visit) (string, error) { return "", u.err }
