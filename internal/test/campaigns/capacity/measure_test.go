package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"

	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/redis"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

const (
	origin    = "https://id.example.com"
	redirect  = "https://app.example.com/cb"
	clientID  = "kscapacity"
	appSecret = "S3cr3tKeyForTests0123456789abcdef"
	password  = "correct horse battery"
)

var measuring = flag.Bool("measure", false,
	"measure what acts cost, on the servers that .ci/postgres and .ci/redis have started")

// TestMeasure prints what measured.go has. It takes half a minute, and judges nothing.
func TestMeasure(t *testing.T) {
	if !*measuring {
		return // a measurement on a machine that does other work proves nothing
	}
	if err := measure(t.Context(), t.Output(), database.URL(t, database.Direct), os.Getenv("KEYSTILE_TEST_REDIS_URL"),
		200); err != nil {
		t.Fatal(err)
	}
}

// bench is one node of the whole service on a real PostgreSQL.
type bench struct {
	service  *keystile.Service
	backend  *postgres.Store
	db       *database.Conn
	observed sync.Map // statement -> *atomic.Int64
	cookie   string
	out      io.Writer
}

// measure prints what each act costs, and how many of the serial ones fit into a second.
func measure(ctx context.Context, out io.Writer, address, redisAddress string, acts int) (err error) {
	b := &bench{out: out}
	if b.db, err = database.Open(ctx, address); err != nil {
		return err
	}
	defer b.db.Close(ctx)
	schema := "capacity_" + strings.ToLower(rand.Text()[:8])
	defer func() {
		_, dropped := b.db.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE")
		err = errors.Join(err, dropped)
	}()
	b.backend, err = postgres.Open(ctx, address, postgres.Options{Schema: schema,
		Observe: func(_ context.Context, statement string, _ time.Duration, _ error) {
			n, _ := b.observed.LoadOrStore(statement, &atomic.Int64{})
			n.(*atomic.Int64).Add(1)
		}})
	if err != nil {
		return err
	}
	defer b.backend.Close()
	c := keystile.Config{BaseURL: origin, Backend: b.backend, MasterKey: storage.NewMasterKey(),
		Log: slog.New(slog.DiscardHandler)}
	c.Gateway.PerAddress = counters.Unlimited
	if b.service, err = keystile.New(ctx, c); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.service.Close(ctx)) }()
	if err := b.fill(ctx); err != nil {
		return err
	}
	if err := b.acts(ctx, acts); err != nil {
		return err
	}
	if err := b.serial(ctx); err != nil {
		return err
	}
	if redisAddress != "" {
		return b.redis(ctx, redisAddress)
	}
	fmt.Fprintln(out, "KEYSTILE_TEST_REDIS_URL is not set: Redis is not measured")
	return nil
}

// fill makes the application and the user that act.
func (b *bench) fill(ctx context.Context) error {
	_, err := users.New(b.service.Store, nil).Create(ctx, storage.User{Username: "ada", Nickname: "Ada"}, password)
	if err != nil {
		return err
	}
	_, err = b.service.Store.SaveApp(ctx, storage.App{ID: clientID, Name: "App", FirstParty: true,
		Domains: []string{"app.example.com"}, Tier: storage.TierEnterprise,
		Secrets: []storage.AppSecret{{Secret: storage.NewSecret(appSecret)}}})
	return err
}

// acts measures what people and applications do, one after another.
func (b *bench) acts(ctx context.Context, n int) error {
	var access, refresh string
	list := []struct {
		name string
		n    int
		do   func() error
	}{
		{"sign-in", max(n/2, 3), b.signIn},
		{"grant", n, func() (err error) { access, refresh, err = b.grant(); return err }},
		{"refresh", n, func() (err error) {
			access, refresh, err = b.token("grant_type", "refresh_token", "refresh_token", refresh)
			return err
		}},
		{"machine", n, func() error { _, _, err := b.token("grant_type", "client_credentials"); return err }},
		{"quota", 5 * n, func() error { return b.get("/api/v1/quota", access, 200) }},
		{"userinfo", n, func() error { return b.get("/oauth/userinfo", access, 200) }},
		{"revoke", n, func() error {
			return b.service.Tokens.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: rand.Text(),
				Until: time.Now().Add(time.Hour)})
		}},
	}
	fmt.Fprintf(b.out, "%-10s %6s %8s %8s %9s %8s %8s %8s %s\n", "act", "times", "trips", "commits", "WAL bytes",
		"node us", "db us", "wall us", "statements")
	for _, a := range list {
		if err := a.do(); err != nil { // warm
			return fmt.Errorf("%s: %w", a.name, err)
		}
		if err := b.one(ctx, a.name, a.n, a.do); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// reading holds what the database and this process have used until now.
type reading struct {
	commits, wal int64
	cpu, db      time.Duration
	statements   map[string]int64
}

func (b *bench) read(ctx context.Context) (r reading, err error) {
	// Statistics of a session get there when it is idle for a second, or asked.
	err = b.db.QueryRow(ctx, "SELECT xact_commit, pg_current_wal_insert_lsn() - '0/0'::pg_lsn FROM pg_stat_database "+
		"WHERE datname = current_database()").Scan(&r.commits, &r.wal)
	var u syscall.Rusage
	err = errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	r.cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	r.db = b.servers(ctx)
	r.statements = map[string]int64{}
	b.observed.Range(func(name, n any) bool { r.statements[name.(string)] = n.(*atomic.Int64).Load(); return true })
	return r, err
}

// servers returns the processor time of the server's processes; 0 if it runs on another machine.
func (b *bench) servers(ctx context.Context) (sum time.Duration) {
	var pids []int64
	if err := b.db.QueryRow(ctx,
		"SELECT array_agg(pid::bigint) FROM pg_stat_activity WHERE pid <> pg_backend_pid()").Scan(&pids); err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, after, found := strings.Cut(string(text), ") ")
		if f := strings.Fields(after); err == nil && found && len(f) > 12 {
			user, _ := strconv.ParseInt(f[11], 10, 64)
			system, _ := strconv.ParseInt(f[12], 10, 64)
			sum += time.Duration(user+system) * tick
		}
	}
	return sum
}

// writes are statements that commit something; all others only read.
var writes = []string{"issue", "exchange", "revoke", "put", "append", "count", "sweep"}

func (b *bench) one(ctx context.Context, name string, n int, do func() error) error {
	before, err := b.read(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	for range n {
		if err := do(); err != nil {
			return err
		}
	}
	took := time.Since(began)
	after, err := b.read(ctx)
	if err != nil {
		return err
	}
	var trips, commits int64
	var said []string
	for _, s := range slices.Sorted(maps.Keys(after.statements)) {
		if d := after.statements[s] - before.statements[s]; d > 0 {
			trips += d
			if slices.Contains(writes, s) {
				commits += d
			}
			said = append(said, fmt.Sprintf("%s %.2f", s, float64(d)/float64(n)))
		}
	}
	each := func(v int64) float64 { return float64(v) / float64(n) }
	fmt.Fprintf(b.out, "%-10s %6d %8.2f %8.2f %9.0f %8.0f %8.0f %8.0f %s\n", name, n, each(trips), each(commits),
		each(after.wal-before.wal),
		each((after.cpu - before.cpu).Microseconds()), each((after.db - before.db).Microseconds()), each(took.Microseconds()),
		strings.Join(said, ", "))
	return nil
}

// serial measures what is done one at a time, with 8 callers: the two counters, and versions.
func (b *bench) serial(ctx context.Context) error {
	var doc atomic.Int64
	at := time.Now().UTC()
	record := driver.Record{At: at, Data: make([]byte, 300)}
	batch := slices.Repeat([]driver.Record{record}, 1000)
	for _, a := range []struct {
		name string
		rows float64
		do   func() error
	}{
		{"revoke, 8 callers", 1, func() error {
			return b.backend.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: rand.Text(), Until: at.Add(time.Hour)})
		}},
		{"append of one, 8 callers", 1, func() error { return b.backend.Append(ctx, record) }},
		{"append of 1000, 8 callers", 1000, func() error { return b.backend.Append(ctx, batch...) }},
		{"put, 8 callers", 1, func() error {
			_, err := b.backend.Put(ctx, driver.Doc{Kind: "capacity", ID: fmt.Sprint(doc.Add(1)), Data: make([]byte, 300)})
			return err
		}},
		{"issue, 8 callers", 1, func() error {
			k := handle.KeyOf(handle.New(handle.RefreshPrefix, time.Now()))
			return b.backend.Issue(ctx, driver.Token{Key: k, Kind: driver.KindRefresh, Grant: rand.Text(), AppID: clientID,
				UserID: "u", IssuedAt: at, ExpiresAt: at.Add(time.Hour)})
		}},
	} {
		rate, err := rate(a.do)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Fprintf(b.out, "%-26s %8.0f calls/s %10.0f rows/s\n", a.name, rate, rate*a.rows)
	}
	return nil
}

// rate returns how often 8 callers together get something done in a second, within two.
func rate(do func() error) (float64, error) {
	var done atomic.Int64
	var callers sync.WaitGroup
	errs := make(chan error, 8)
	began := time.Now()
	for range 8 {
		callers.Go(func() {
			for time.Since(began) < 2*time.Second {
				if err := do(); err != nil {
					errs <- err
					return
				}
				done.Add(1)
			}
		})
	}
	callers.Wait()
	took := time.Since(began)
	select {
	case err := <-errs:
		return 0, err
	default:
		return float64(done.Load()) / took.Seconds(), nil
	}
}

// redis measures one hot application and many addresses.
func (b *bench) redis(ctx context.Context, address string) error {
	c, err := redis.Open(ctx, address, redis.Options{Prefix: "capacity-" + rand.Text()[:8], Nodes: func() int { return 2 },
		Log: slog.New(slog.DiscardHandler), Timeout: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	defer c.Close()
	l := c.Limiter()
	for range 200 {
		if l.Allow(ctx, "warm", 10, time.Now()); c.Stats().Connected {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	var n atomic.Int64
	for name, do := range map[string]func() error{
		"one hot application": func() error { l.Allow(ctx, "hot", 1_000_000, time.Now()); return nil },
		"addresses of their own": func() error {
			i := n.Add(1)
			l.HoldAddress(ctx, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 60, time.Now())
			return nil
		},
	} {
		before := c.Stats().Answered
		perSecond, err := rate(do)
		if err != nil {
			return err
		}
		answered := c.Stats().Answered - before
		fmt.Fprintf(b.out, "redis, %-24s %8.0f acts/s, of which it answered %d in two seconds\n", name, perSecond, answered)
	}
	return nil
}

func (b *bench) do(r *http.Request, want int) (*http.Response, []byte, error) {
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	w := httptest.NewRecorder()
	b.service.ServeHTTP(w, r)
	if w.Code != want {
		return nil, nil, fmt.Errorf("%s %s is answered %d %.300s", r.Method, r.URL.Path, w.Code, w.Body)
	}
	return w.Result(), w.Body.Bytes(), nil
}

func (b *bench) post(path string, want int, pairs ...string) (*http.Response, []byte, error) {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, origin+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r, want)
}

func (b *bench) get(path, access string, want int) error {
	r := httptest.NewRequest(http.MethodGet, origin+path, nil)
	r.Header.Set("Authorization", "Bearer "+access)
	_, _, err := b.do(r, want)
	return err
}

// signIn signs in with a password, in a browser that has no session.
func (b *bench) signIn() error {
	b.cookie = ""
	resp, _, err := b.post("/oauth/signin", http.StatusSeeOther, "username", "ada", "password", password)
	if err != nil {
		return err
	}
	for _, c := range resp.Cookies() {
		if strings.HasSuffix(c.Name, "open_sso_token") {
			b.cookie = c.Name + "=" + c.Value
		}
	}
	if b.cookie == "" {
		return errors.New("the sign-in brings no cookie")
	}
	return nil
}

// grant goes from the session to tokens: authorize and token.
func (b *bench) grant() (access, refresh string, err error) {
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirect},
		"scope":          {"openid profile"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	resp, _, err := b.do(httptest.NewRequest(http.MethodGet, origin+"/oauth/authorize?"+query.Encode(), nil),
		http.StatusFound)
	if err != nil {
		return "", "", err
	}
	to, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		return "", "", err
	}
	return b.token("grant_type", "authorization_code", "code", to.Query().Get("code"), "redirect_uri", redirect,
		"code_verifier", verifier)
}

func (b *bench) token(pairs ...string) (access, refresh string, err error) {
	_, body, err := b.post("/oauth/token", http.StatusOK, append(pairs, "client_id", clientID, "client_secret",
		appSecret)...)
	var g struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err == nil {
		err = json.Unmarshal(body, &g)
	}
	if err == nil && g.Access == "" {
		err = fmt.Errorf("no token: %s", body)
	}
	return g.Access, g.Refresh, err
}
