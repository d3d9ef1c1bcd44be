package consolebench

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// sizes says how much is in the store.
type sizes struct{ users, groups, apps, audit, usage int }

var (
	size   sizes
	data   = flag.String("data", "", "the folder with the store")
	schema = flag.String("postgres", "", "a schema of KEYSTILE_POSTGRES_URL, in place of a file")
	times  = flag.Int("times", 100, "how often each page is asked for")
	alone  = flag.String("page", "", "pages whose path has this in it")
)

func init() {
	flag.IntVar(&size.users, "users", 0,
		"how many users, at least 1000; 0: so many, and the time that a page takes is no failure")
	flag.IntVar(&size.groups, "groups", 300, "how many groups; nine of ten users are in the first of them")
	flag.IntVar(&size.apps, "apps", 1000, "how many applications, at least 1000")
	flag.IntVar(&size.audit, "audit", 10_000, "how many audit records")
	flag.IntVar(&size.usage, "usage", 10_000, "how many rows of usage")
}

const base = "https://id.example.com"

// opened opens the store, and reports how many may load it at once.
func opened(t *testing.T) (adapter, int) {
	if *schema != "" {
		s, err := postgres.Open(t.Context(), os.Getenv("KEYSTILE_POSTGRES_URL"),
			postgres.Options{Schema: *schema, PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return s, 4
	}
	s, err := bolt.Open(filepath.Join(*data, "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, 64
}

// masterKey returns the key of the folder; fresh: there was none.
func masterKey(t *testing.T) (key storage.MasterKey, fresh bool) {
	path := filepath.Join(*data, cmp.Or(*schema, "store")+".key")
	text, err := os.ReadFile(path)
	if err == nil {
		if key, err = storage.ParseMasterKey(string(text)); err != nil {
			t.Fatal(err)
		}
		return key, false
	}
	key = storage.NewMasterKey()
	if err := os.WriteFile(path, []byte(key.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	return key, true
}

// bench is a console over the large store, with an administrator who is signed in.
type bench struct {
	*testing.T
	store   *counting
	console *console.Console
	cookie  string
	visitor int64 // calls that tell who reads a page

	measured bool
	bad      []string
}

// TestPages prints what each page takes. A page beyond its bounds fails: without -users one that is too
// long or no answer, and with it also one that takes too long or asks the store too often.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills a store, which takes seconds")
	}
	measured := size.users > 0
	if !measured {
		size.users, *times = 1000, 1
	}
	if *data == "" {
		*data = t.TempDir()
	}
	backend, loaders := opened(t)
	t.Cleanup(func() { backend.Close() })
	key, fresh := masterKey(t)
	if fresh {
		(&filler{TB: t, sizes: size, adapter: backend, key: key}).fill(loaders)
	}
	b := &bench{T: t, store: &counting{Backend: backend}, measured: measured}
	svc, err := keystile.New(t.Context(), b.config(key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { svc.Close(context.Background()) })
	b.console = svc.Console
	b.signIn(svc)
	paths := b.paths(svc.Store)
	b.measure("/console/users/new", "who reads it", 10)
	fmt.Printf("%-70s %9s %9s %9s %9s %8s %5s\n", "page", "cold", "p50", "p95", "max", "bytes", "calls")
	b.show(b.measure(console.ExemptPaths()[0], "a static file", *times))
	for _, one := range paths {
		if strings.Contains(one[0]+one[1], *alone) {
			b.show(b.measure(one[0], one[1], *times))
		}
	}
	b.show(b.measure(console.ExemptPaths()[0], "a static file", *times))
	for _, line := range b.bad {
		t.Error(line)
	}
}

func (b *bench) config(key storage.MasterKey) keystile.Config {
	c := keystile.Config{BaseURL: base, Backend: b.store, MasterKey: key, Log: slog.New(slog.DiscardHandler)}
	c.SignIn.Passwords = passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	return c
}

func (b *bench) signIn(svc *keystile.Service) {
	name := fmt.Sprintf("zz-root-%d", time.Now().UnixNano())
	u, err := svc.Store.CreateUser(b.Context(), storage.User{Username: name, Role: storage.RoleAdmin})
	if err != nil {
		b.Fatal(err)
	}
	cookie, now := handle.NewCookie(), time.Now()
	_, err = svc.Store.SaveSession(b.Context(), storage.Session{ID: handle.Hash(cookie), UserID: u.Sub, AuthTime: now,
		ExpiresAt: now.Add(24 * time.Hour), EndsAt: now.Add(24 * time.Hour)})
	if err != nil {
		b.Fatal(err)
	}
	b.cookie = "open_sso_token=" + cookie
}

// paths returns every page of the console with real names filled in, then what is searched for.
func (b *bench) paths(store *storage.Store) (all [][2]string) {
	ctx := b.Context()
	users, _, err := store.FindUsers(ctx, username(0), "", 1)
	apps, _, err2 := store.FindApps(ctx, appName(0), "", "", 1)
	orders, _, err3 := store.Orders(ctx, storage.OrderQuery{}, "", 1)
	for _, err := range []error{err, err2, err3} {
		if err != nil {
			b.Fatal(err)
		}
	}
	if len(users) == 0 || len(apps) == 0 || len(orders) == 0 {
		b.Fatal("the store lacks what was to be filled in: remove it, and its key")
	}
	sub, app := users[0].Sub, apps[0].ID
	names := strings.NewReplacer("{client_id}", app, "{sub}", sub, "{order_id}", orders[0].ID, "{member}", member(0),
		"{group}", groupName(0), "{tool}", "getSomething001", "{seq}", fmt.Sprint(max(1, size.audit/2)), "{$}", "")
	for _, pattern := range b.console.Patterns() {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			path = pattern
		} else if method != http.MethodGet {
			continue
		}
		if !strings.HasPrefix(path, "/console/") || path == "/console/" &&
			slices.Contains(b.console.Patterns(), "/console/{$}") {
			continue
		}
		if strings.HasSuffix(path, "/export") { // there is only a form to send there
			continue
		}
		query := ""
		if path == "/console/clients/show" {
			query = "?id=" + url.QueryEscape("https://agents-of-somebody-0.example.com/oauth/client-metadata.json")
		}
		if path = names.Replace(path); strings.Contains(path, "{") {
			b.Errorf("%s: the bench does not know what to put in", path)
			continue
		}
		all = append(all, [2]string{path + query, ""})
	}
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	return append(all, [][2]string{
		{"/console/users?q=person-00001", "users by prefix"}, {"/console/users?q=nobody", "users, none"},
		{"/console/apps?q=shop+00001", "applications by prefix"}, {"/console/groups?q=team-001", "groups by prefix"},
		{"/console/groups?q=group+number", "groups by label"}, {"/console/groups?q=nothing", "groups, none"},
		{"/console/apps?owner=" + sub, "applications of one"}, {"/console/sessions?user=" + sub, "sessions of one"},
		{"/console/grants?client_id=" + app, "grants of an application"},
		{"/console/audit?sub=" + sub + "&kind=sign_in", "audit, user and kind"}, {"/console/audit?sub=" + sub, "audit, user"},
		{"/console/audit?client_id=" + app, "audit, application"},
		{"/console/audit?request_id=" + requestID(size.audit/3), "audit, request id"},
		{"/console/audit?to=" + day(363), "audit, last page of the year"},
		{"/console/audit?sub=" + sub + "&to=" + day(363), "audit, user, a year ago"},
		{"/console/audit?kind=admin&to=" + day(300), "audit, kind, long ago"},
		{"/console/audit?request_id=nobody", "audit, nothing"},
		{"/console/usage?from=" + day(29), "usage, 30 days"},
		{"/console/usage?by=app&from=" + day(29), "top applications of 30 days"},
		{"/console/usage?by=tool&from=" + day(29), "top tools of 30 days"},
		{"/console/usage?by=user&from=" + day(29), "top people of 30 days"},
		{"/console/usage?client_id=" + app + "&from=" + day(29), "usage of one"},
		{"/console/usage?client_id=" + app + "&by=tool&from=" + day(29), "tools of one"},
		{"/console/usage?client_id=" + app + "&granularity=hour&from=" + day(3), "usage of one, by hour"},
		{"/console/quota?app=" + app, "quota of one"}, {"/console/visible?user=" + sub, "what one sees"},
		{"/console/settlements?client_id=" + app, "settlement of one"},
	}...)
}

// figure holds what one page took.
type figure struct {
	path, name    string
	cold          time.Duration
	took          []time.Duration // ascending
	bytes, status int
	calls, first  int64 // the first answer took more where something is remembered
}

func (b *bench) measure(path, name string, n int) figure {
	f := figure{path: path, name: name}
	var calls []int64
	for i := range n + 11 {
		r := httptest.NewRequestWithContext(b.Context(), "GET", base+path, nil)
		r.Header.Set("Cookie", b.cookie)
		w := httptest.NewRecorder()
		before, began := b.store.calls.Load(), time.Now()
		b.console.ServeHTTP(w, r)
		took, asked := time.Since(began), b.store.calls.Load()-before
		switch {
		case i == 0:
			f.cold, f.first = took, asked
		case i > 10:
			f.took, calls = append(f.took, took), append(calls, asked)
		}
		f.bytes, f.status = w.Body.Len(), w.Code
		if bytes.Contains(w.Body.Bytes(), []byte("could not be read")) {
			b.Errorf("%s lacks something", path)
		}
	}
	slices.Sort(f.took)
	slices.Sort(calls)
	f.calls = calls[n/2]
	if name == "who reads it" {
		b.visitor = f.calls
	}
	f.calls, f.first = max(0, f.calls-b.visitor), max(0, f.first-b.visitor)
	return f
}

const (
	maxTook  = 50 * time.Millisecond
	maxBytes = 80 << 10
	maxCalls = 4
)

func (b *bench) show(f figure) {
	p50, p95 := f.took[len(f.took)/2], f.took[len(f.took)*95/100]
	name := f.path
	if f.name != "" {
		name = f.name + " " + f.path
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
	line := fmt.Sprintf("%-70.70s %9s %9s %9s %9s %8d %5s", name, ms(f.cold), ms(p50), ms(p95), ms(f.took[len(f.took)-1]),
		f.bytes, fmt.Sprint(f.calls, "/", f.first))
	fmt.Println(line)
	slow := b.measured && (p95 > maxTook || max(f.calls, f.first) > maxCalls)
	if f.status != http.StatusOK || f.bytes > maxBytes || slow {
		b.bad = append(b.bad, fmt.Sprintf("%d %s", f.status, line))
	}
}

var _ driver.Picker = (*counting)(nil)
