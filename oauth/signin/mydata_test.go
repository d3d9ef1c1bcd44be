package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/mydata"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/event"
)

// searched is an Audit whose trail has so many records about everybody.
type searched struct {
	fakeAudit
	n, searches, most int
	fail              bool
	of                map[string]bool
}

func (s *searched) Search(_ context.Context, q event.Query) (event.Page, error) {
	s.searches++
	s.of[q.User] = true
	if s.fail && s.searches > 1 {
		return event.Page{}, errDown
	}
	first := s.n
	if q.Before > 0 {
		first = int(q.Before) - 1
	}
	var page event.Page
	for seq := first; seq > 0 && len(page.Entries) < q.Limit; seq-- {
		page.Entries = append(page.Entries, event.Entry{Seq: uint64(seq),
			Event: event.Event{Kind: event.SignIn, User: q.User, IP: "192.0.2.1", Detail: fmt.Sprint(seq)}})
		page.Next = uint64(seq)
	}
	s.most = max(s.most, len(page.Entries))
	if page.Next == 1 {
		page.Next = 0
	}
	return page, nil
}

// downloaded is the part of the file that the tests read.
type downloaded struct {
	Format   string
	Profile  map[string]any
	WaysIn   []map[string]any `json:"ways_in"`
	Factors  map[string]any   `json:"second_factors"`
	Sessions []map[string]any
	OpenIDs  []map[string]any
	Consents []map[string]any
	APIKeys  []map[string]any `json:"api_keys"`
	Owns     map[string][]map[string]any
	Audit    struct {
		Records  []map[string]any
		Complete bool
	}
}

func readData(t *testing.T, a answer) (f downloaded) {
	t.Helper()
	if a.Code != 200 || json.Unmarshal([]byte(a.body), &f) != nil || f.Format != "keystile.account.1" {
		t.Fatalf("%d %s", a.Code, a.body)
	}
	return f
}

// filled gives Mina some of everything, and returns what the file may not hold.
func (d *accountFixture) filled() (secrets []string) {
	d.t.Helper()
	ctx := context.Background()
	d.consent(d.mina.Sub)
	d.link(d.mina.Sub, storage.Login{Method: storage.LoginEmail, Subject: "mina@example.com"})
	_, err := d.store.CreateAPIKey(ctx, apikey.Key{ID: handle.Hash("text"), UserID: d.mina.Sub, Name: "nightly",
		Scope: "tools"}, time.Hour)
	must(d.t, err)
	_, err = d.store.SaveFactors(ctx, storage.Factors{
		UserID: d.mina.Sub, Authenticator: &authn.Authenticator{CreatedAt: time.Now().UTC()},
		AppSecret: storage.NewSecret("JBSWY3DPEHPK3PXP"),
		Passkeys:  []authn.Passkey{{ID: "cGFzc2tleQ", Name: "blue key", Credential: "pQECAyYg"}},
		Recovery:  []authn.RecoveryCode{{Hash: handle.Hash("code")}},
	})
	must(d.t, err)
	_, err = d.store.SaveApp(ctx, storage.App{ID: "ksown", Name: "Own app", Domains: []string{"own.example.com"},
		Owner: d.mina.Sub})
	must(d.t, err)
	_, err = d.store.SaveApp(ctx, storage.App{ID: "ksforeign", Name: "Foreign app",
		Domains: []string{"foreign.example.com"}, Owner: "somebody"})
	must(d.t, err)
	logins, err := d.store.Logins(ctx, d.mina.Sub)
	must(d.t, err)
	for _, l := range logins {
		if l.PasswordHash != "" {
			secrets = append(secrets, l.PasswordHash)
		}
	}
	return append(secrets, handle.Hash("text"), "JBSWY3DPEHPK3PXP", "cGFzc2tleQ", "pQECAyYg", handle.Hash("code"),
		"Foreign app")
}

func TestFileHoldsAllThatIsHeldAboutItsUserAndNoSecret(t *testing.T) {
	audit := &searched{n: 3, of: map[string]bool{}}
	d := newAccountFixture(t, func(c *Config) { c.Audit, c.Records = audit, audit })
	here := d.enterMina()
	secrets := d.filled()
	d.change(here, func(v *storage.Session) { v.AMR += " " + authn.AMRMultifactor }) // they have a second factor now
	_, theirs := d.ada()
	a := d.do(sends(mydata.Path, "cookie", here))
	f := readData(t, a)
	h := a.Header()
	if !strings.HasPrefix(h.Get("Content-Disposition"), "attachment; filename=") || h.Get("Cache-Control") != "no-store" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("headers %v", h)
	}
	for name, ok := range map[string]bool{
		"profile": f.Profile["sub"] == d.mina.Sub && f.Profile["nickname"] == "Mina Okafor",
		"ways in": len(f.WaysIn) == 2 && strings.Contains(a.body, `"mina@example.com"`), "factors": f.Factors["recovery_codes_left"] == 1.0 && strings.Contains(a.body, `"blue key"`),
		"sessions": len(f.Sessions) == 1 && f.Sessions[0]["ip"] == "192.0.2.1" && f.Sessions[0]["amr"] == "pwd mfa",
		"openids":  len(f.OpenIDs) == 1 && f.OpenIDs[0]["application"] == "Acme" && f.OpenIDs[0]["openid"] != "",
		"consents": len(f.Consents) == 1 && f.Consents[0]["scope"] == "email openid", "keys": len(f.APIKeys) == 1 &&
			f.APIKeys[0]["name"] == "nightly",
		"owned": len(f.Owns["applications"]) == 1 && f.Owns["applications"][0]["client_id"] == "ksown" &&
			f.Owns["capabilities"] != nil,
		"audit": len(f.Audit.Records) == 3 && f.Audit.Complete,
	} {
		if !ok {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	for _, secret := range append(secrets, here, handle.Hash(here), theirs, "ada") {
		if strings.Contains(a.body, `"`+secret) {
			t.Errorf("the file holds %q", secret)
		}
	}
	if !slices.Contains(audit.notes, "account  own data downloaded") || len(audit.of) != 1 || !audit.of[d.mina.Sub] {
		t.Errorf("the trail says %q, and was searched for %v", audit.notes, audit.of)
	}
}

func TestDownloadOfMyDataNeedsARecentSignIn(t *testing.T) {
	audit := &searched{n: 1, of: map[string]bool{}}
	d := newAccountFixture(t, func(c *Config) { c.Audit, c.Records = audit, audit })
	here := d.enterMina()
	d.filled()
	if a := d.do(sends(mydata.Path)); a.Code != 303 || a.Header().Get("Location") != mydata.Path {
		t.Errorf("a stranger: %d", a.Code)
	}
	if a := d.do(get(mydata.Path)); a.carried() != web.AccountPath {
		t.Errorf("a stranger sees %s", a.body)
	}
	cross := sends(mydata.Path, "cookie", here)
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := d.do(cross); a.Code != 403 {
		t.Errorf("another site: %d", a.Code)
	}
	_, theirs := d.ada()
	if f := readData(t, d.do(sends(mydata.Path, "cookie", theirs, "sub", d.mina.Sub, "user",
		d.mina.Sub))); f.Profile["username"] != "ada" || len(f.WaysIn) != 1 || len(f.APIKeys) != 0 ||
		len(f.Owns["applications"]) != 0 {
		t.Errorf("somebody else gets %+v", f)
	}
	d.aged(here, stepup.MaxAge+time.Second)
	if a := d.do(sends(mydata.Path, "cookie", here)); a.Header().Get("Content-Disposition") != "" ||
		!strings.Contains(a.body, "What you typed is kept") {
		t.Errorf("an old sign-in: %d %s", a.Code, a.body)
	}
	if a := d.do(get(mydata.Path, here)); a.Code != 200 || strings.Contains(a.body, `method="post" action="/oauth/account/data"`) || !strings.Contains(a.body, web.ConfirmPath) {
		t.Errorf("an old sign-in sees %s", a.body)
	}
}

func TestDownloadIsWrittenDownFirstAndLimited(t *testing.T) {
	audit := &searched{of: map[string]bool{}}
	d := newAccountFixture(t, func(c *Config) { c.Audit, c.Records = audit, audit })
	here := d.enterMina()
	audit.err = errDown
	if a := d.do(sends(mydata.Path, "cookie", here)); a.Code != 503 || strings.Contains(a.body, d.mina.Sub) {
		t.Errorf("with the trail away: %d", a.Code)
	}
	audit.err = nil
	for range limits.PerUser - 1 {
		readData(t, d.do(sends(mydata.Path, "cookie", here)))
	}
	if a := d.do(sends(mydata.Path, "cookie", here)); a.Code != 429 || a.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d", a.Code)
	}
}

func TestFileHasTheNewestRecordsAndSaysIfThereAreMore(t *testing.T) {
	for n, complete := range map[int]bool{0: true, 500: true, 501: true, 10_000: true, 10_001: false, 25_000: false} {
		audit := &searched{n: n, of: map[string]bool{}}
		d := newAccountFixture(t, func(c *Config) { c.Audit, c.Records = audit, audit })
		f := readData(t, d.do(sends(mydata.Path, "cookie", d.enterMina())))
		if len(f.Audit.Records) != min(n, 10_000) || f.Audit.Complete != complete {
			t.Errorf("%d records: %d, complete %v", n, len(f.Audit.Records), f.Audit.Complete)
		}
		if n > 0 && f.Audit.Records[0]["detail"] != fmt.Sprint(n) {
			t.Errorf("%d records: the first is %v", n, f.Audit.Records[0])
		}
	}
	audit := &searched{n: 2000, fail: true, of: map[string]bool{}}
	d := newAccountFixture(t, func(c *Config) { c.Audit, c.Records = audit, audit })
	if f := readData(t, d.do(sends(mydata.Path, "cookie", d.enterMina()))); len(f.Audit.Records) != 500 ||
		f.Audit.Complete {
		t.Errorf("a trail that goes away: %d, complete %v", len(f.Audit.Records), f.Audit.Complete)
	}
}

// A file is not held in memory: it is written as the records are read.
func TestRecordsAreWrittenAsTheyAreRead(t *testing.T) {
	audit := &searched{n: 10_000, of: map[string]bool{}}
	d := newAccountFixture(t, func(c *Config) { c.Audit, c.Records = audit, audit })
	w := &chunks{ResponseRecorder: httptest.NewRecorder()}
	d.ServeHTTP(w, sends(mydata.Path, "cookie", d.enterMina()))
	if w.writes < 20 || w.most > 200_000 || audit.most > event.MaxLimit {
		t.Errorf("%d writes, the longest of %d bytes", w.writes, w.most)
	}
}

type chunks struct {
	*httptest.ResponseRecorder
	writes, most int
}

func (c *chunks) Write(p []byte) (int, error) {
	c.writes++
	c.most = max(c.most, len(p))
	return c.ResponseRecorder.Write(p)
}
