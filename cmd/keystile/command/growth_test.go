package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// scales is a Backend that weighs what is written.
type scales struct {
	driver.Backend
	mu      sync.Mutex
	records int
	trail   int            // bytes of them
	stays   map[string]int // bytes of each document that no sweep removes
	ends    map[string]int // of each that one does
}

func newScales() *scales {
	return &scales{Backend: memory.New(), stays: map[string]int{}, ends: map[string]int{}}
}

func (s *scales) Append(ctx context.Context, records ...driver.Record) error {
	s.mu.Lock()
	for _, r := range records {
		s.records++
		s.trail += len(r.Data)
	}
	s.mu.Unlock()
	return s.Backend.Append(ctx, records...)
}

func (s *scales) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	s.mu.Lock()
	for _, d := range docs {
		name := d.Kind + " " + d.ID
		delete(s.stays, name)
		delete(s.ends, name)
		if d.Deleted {
			continue
		}
		size := len(d.Kind) + len(d.ID) + len(d.Data)
		for _, entry := range d.Index {
			size += len(entry) + len(d.ID)
		}
		if d.ExpiresAt.IsZero() {
			s.stays[name] = size
		} else {
			s.ends[name] = size
		}
	}
	s.mu.Unlock()
	return s.Backend.Put(ctx, docs...)
}

// weight counts records, their bytes, and those of documents.
func (s *scales) weight() (records, trail, stays, ends int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.stays {
		stays += n
	}
	for _, n := range s.ends {
		ends += n
	}
	return s.records, s.trail, stays, ends
}

// stranger is somebody who wants something and proves nothing. Each of theirs comes from
// another network.
type stranger struct {
	name, method, path, body, header string
	want                             string // the statuses that may be answered
	events                           bool   // each request is an event
	ends                             int    // bytes a request may leave until it is swept
}

func strangers(client, public string) []stranger {
	post, get := http.MethodPost, http.MethodGet
	legacy := "&redirect_uri=" + url.QueryEscape("https://app.example.com/cb") + "&appid="
	long := url.QueryEscape("client_id=" + client + "&state=" + strings.Repeat("s", 4000))
	return []stranger{
		{name: "userinfo without a token", method: get, path: "/oauth/userinfo", want: "401", events: true},
		{name: "userinfo with a bad token", method: get, path: "/oauth/userinfo.php", header: "Bearer none-{i}", want: "401",
			events: true},
		{name: "quota", method: get, path: "/api/v1/quota", want: "401", events: true},
		{name: "a path that is none", method: get, path: "/api/v1/" + strings.Repeat("x", 1000) + "{i}", want: "404",
			events: true},
		{name: "a guarded product", method: get, path: "/ai/" + strings.Repeat("x", 1000) + "{i}", want: "401", events: true},
		{name: "verify", method: get, path: "/api/v1/verify/{i}?product=ai", want: "401", events: true},
		{name: "token, unknown client", method: post, path: "/oauth/token",
			body: "grant_type={i}&client_id=c{i}&client_secret=x", want: "401 429", events: true},
		{name: "token, wrong secret", method: post, path: "/oauth/token",
			body: "grant_type=client_credentials&client_id=" + client + "&client_secret=x{i}", want: "401 429", events: true},
		{name: "token, public client", method: post, path: "/oauth/token", body: "grant_type={i}&client_id=" + public,
			want: "400", events: true},
		{name: "token, public client, no code", method: post, path: "/oauth/token",
			body: "grant_type=authorization_code&code=c{i}&client_id=" + public, want: "400", events: true},
		{name: "revoke", method: post, path: "/oauth/revoke", body: "token=x&client_id=c{i}&client_secret=x", want: "401 429",
			events: true},
		{name: "revoke, public client", method: post, path: "/oauth/revoke", body: "token=x{i}&client_id=" + public,
			want: "200", events: true},
		{name: "revoke of made-up keys", method: post, path: "/oauth/revoke", body: "token={key}&client_id=apikey",
			want: "200", events: true},
		{name: "introspection", method: post, path: "/oauth/introspect", body: "token=x&client_id=c{i}&client_secret=x",
			want: "401 429", events: true},
		{name: "introspection, public client", method: post, path: "/oauth/introspect",
			body: "token=x{i}&client_id=" + public, want: "401", events: true},
		{name: "a made-up API key", method: get, path: "/ai/x{i}", header: "Bearer {key}", want: "401", events: true},
		{name: "API keys of nobody", method: post, path: "/oauth/account/keys", body: "name=x{i}&what=all&days=1",
			want: "303"},
		{name: "connect login", method: get, path: "/connect.php?act=login" + legacy + client + "&appkey=x{i}",
			want: "401 429", events: true},
		{name: "connect callback", method: get, path: "/connect.php?act=callback" + legacy + "c{i}&appkey=x&code=x",
			want: "401 404 429", events: true},
		{name: "connect, no act", method: get, path: "/connect.php?act={i}" + legacy, want: "400", events: true},
		{name: "check_sso", method: get, path: "/connect.php?act=check_sso&appid=" + client, want: "200", events: true},
		{name: "check_token", method: get, path: "/check_token.php?access_token=x{i}", want: "401", events: true},
		{name: "failed sign-in of nobody", method: post, path: "/oauth/signin",
			body: "username=nobody{i}&password=nothing-at-all", want: "401 429", events: true},
		{name: "code of a mail, none sent", method: post, path: "/oauth/signin/email/code", body: "code=123456",
			want: "400 404"},
		{name: "sign-in page", method: get, path: "/oauth/signin", want: "200"},
		{name: "authorize", method: get, path: "/oauth/authorize?response_type=code&client_id=" + client + "&redirect_uri=" +
			url.QueryEscape("https://app.example.com/cb"), want: "200"},
		{name: "discovery", method: get, path: "/.well-known/openid-configuration", want: "200"},
		{name: "the bus", method: post, path: "/api/mcp", body: `{}`, want: "401"},
		{name: "the console", method: get, path: "/api/console/apps", want: "401"},
		{name: "the front page", method: get, path: "/", want: "200"},
		{name: "health", method: get, path: "/healthz/ready", want: "200 503"},
		{name: "logout", method: post, path: "/oauth/logout", body: "a=b", want: "200 303 400"},
		{name: "consent", method: post, path: "/oauth/signin/consent",
			body: "query=client_id%3D" + client + "&user=x{i}&scope=openid&allow=1", want: "303 400 403"},
		{name: "an address", method: post, path: "/oauth/signin/address", body: "address=a{i}%40example.com", want: "303"},
		{name: "a provider's return", method: get, path: "/oauth/signin/with/wx/return?code=x&state=y{i}", want: "400"},
		{name: "scan", method: post, path: "/oauth/signin/scan/ABC{i}", body: "allow=1", want: "303 400 404"},
		{name: "collect", method: post, path: "/oauth/signin/qr/collect", body: "id=x{i}", want: "400"},
		{name: "register a capability", method: post, path: "/api/console/capabilities/register", body: "{}", want: "401"},
		{name: "demo", method: get, path: "/demo/start", want: "200 302 303 404"},
		{name: "signin/qr", method: get, path: "/oauth/signin/qr", want: "200", ends: 900},
		{name: "signin/qr, 4 kB", method: get, path: "/oauth/signin/qr?query=" + long, want: "200", ends: 5500},
		{name: "signin/qr, 7 kB", method: get, path: "/oauth/signin/qr?query=" + long + strings.Repeat("s", 3000),
			want: "400"},
		{name: "signin/with/wx", method: get, path: "/oauth/signin/with/wx", want: "302", ends: 900},
		{name: "email code", method: post, path: "/oauth/signin/email", body: "address=a{i}%40example.com",
			want: "303 404 503", ends: 2300},
		{name: "reset", method: post, path: "/oauth/signin/reset", body: "address=a{i}%40example.com", want: "303 404 503",
			ends: 2300},
	}
}

// from is the i-th network: of many /48s, so that no rate of one hides how much is written.
func from(i int) string { return fmt.Sprintf("[2001:db8:%x:%x::7]:1", i%50000, i%7) }

func (w *world) knock(s stranger, i int) int {
	text := strings.NewReplacer("{i}", fmt.Sprint(i), "{key}", handle.NewAPIKey())
	r := httptest.NewRequest(s.method, worldBase+text.Replace(s.path), strings.NewReader(text.Replace(s.body)))
	r.RemoteAddr = from(i)
	if s.body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if s.path == "/api/mcp" {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.header != "" {
		r.Header.Set("Authorization", text.Replace(s.header))
	}
	r.Header.Set("User-Agent", strings.Repeat("x", 2000))
	a := httptest.NewRecorder()
	w.handler.ServeHTTP(a, r)
	return a.Code
}

// Strangers do not make the store grow: what they cause is counted to the last request, in a
// number of records that does not depend on how many they are.
func TestStrangersLeaveABoundedNumberOfRecordsThatCountThemAll(t *testing.T) {
	const many = 450 // fewer than the emails that may be on their way for strangers
	kinds := len(strangers("", ""))
	for k := range kinds {
		t.Run(strangers("", "")[k].name, func(t *testing.T) {
			t.Parallel()
			scales := newScales()
			w := newWorldOn(t, scales)
			app, err := w.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}})
			fatal(t, err)
			public, err := w.store.SaveApp(t.Context(), storage.App{Name: "Public", Public: true,
				Domains: []string{"app.example.com"}})
			fatal(t, err)
			s := strangers(app.ID, public.ID)[k]
			_, before, stays, ends := scales.weight()
			statuses := map[int]int{}
			for i := range many {
				status := w.knock(s, i)
				if statuses[status]++; !strings.Contains(s.want, fmt.Sprint(status)) {
					t.Fatalf("request %d is answered %d, want one of %s", i, status, s.want)
				}
			}
			fatal(t, errors.Join(w.b.Gateway.Close(context.Background()), w.b.Trail.Close(context.Background())))
			records, after, stayed, ended := scales.weight()
			t.Logf("| %s | %.1f | %.1f | %d |", s.name, float64(after-before)/many, float64(stayed-stays)/many,
				(ended-ends)/many)
			noted, events := w.strangersNoted(t)
			if want := int64(many); s.events && events != want || !s.events && events > 0 && events != want {
				t.Errorf("the records count %d events, want %d", events, want)
			}
			if noted > 300 || s.events && noted == 0 || records > noted+4 {
				t.Errorf("%d requests leave %d records, want at most 300", many, noted)
			}
			if n := stayed - stays; n > 2000 {
				t.Errorf("%d bytes of documents stay for ever", n)
			}
			if n := (ended - ends) / many; n > s.ends {
				t.Errorf("each request leaves %d bytes until they are swept, want at most %d", n, s.ends)
			}
		})
	}
}

// strangersNoted says how many records there are without a user, and of how many events.
func (w *world) strangersNoted(t *testing.T) (records int, events int64) {
	t.Helper()
	all, err := w.store.Records(t.Context(), 0, driver.Page)
	fatal(t, err)
	for _, r := range all {
		var e event.Event
		fatal(t, json.Unmarshal(r.Data, &e))
		if strings.HasPrefix(e.Kind, "audit.") && e.Count == 0 {
			continue
		}
		if e.User != "" || len(e.Path) > 256 || strings.Contains(e.Detail, "{i}") {
			t.Errorf("an event of a stranger is %+v", e)
		}
		records++
		events += max(e.Count, 1)
	}
	return records, events
}

func TestAuditWritesEveryProofOfIdentity(t *testing.T) {
	w := newWorld(t)
	app, err := w.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		Tier: storage.TierEnterprise})
	fatal(t, err)
	secret := app.AppKey().Reveal()
	for i := range 40 {
		for _, s := range []stranger{
			{method: http.MethodPost, path: "/oauth/token", body: "grant_type=client_credentials&client_id=" + app.ID +
				"&client_secret=" + secret},
			{method: http.MethodPost, path: "/oauth/revoke", body: "token=none&client_id=" + app.ID + "&client_secret=" +
				secret},
			{method: http.MethodPost, path: "/connect.php", body: "act=query&social_uid=none&appid=" + app.ID + "&appkey=" +
				secret},
		} {
			w.knock(s, i%2)
		}
	}
	fatal(t, errors.Join(w.b.Gateway.Close(context.Background()), w.b.Trail.Close(context.Background())))
	all, err := w.store.Records(t.Context(), 0, driver.Page)
	fatal(t, err)
	kinds := map[string]int{}
	for _, r := range all {
		var e event.Event
		fatal(t, json.Unmarshal(r.Data, &e))
		if kinds[e.Kind]++; e.Count != 0 || !strings.HasPrefix(e.Kind, "audit.") && e.App != app.ID {
			t.Errorf("an event of a known application is %+v", e)
		}
	}
	if kinds["token"] != 40 || kinds["revocation"] != 40 || kinds["legacy"] != 40 {
		t.Errorf("the trail holds %v, want 40 of each", kinds)
	}
}
