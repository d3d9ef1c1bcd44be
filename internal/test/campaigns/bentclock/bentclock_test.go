package bentclock

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
	"github.com/keystile/keystile/internal/test/serving"
)

const day = 24 * time.Hour

// wrong lists the errors that a clock may have.
var wrong = []time.Duration{2 * time.Hour, -2 * time.Hour, 8 * day, 400 * day}

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "keystile-bent-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// oftener has a running server sweep many times while a test looks.
var oftener = overlay.Change{File: "cmd/keystile/command/servers.go", Old: "sweep    = time.Minute",
	New: "sweep = 20 * time.Millisecond"}

var built = sync.OnceValues(func() (string, error) { return Build(context.Background(), scratch, oftener) })

func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// fixture is a data folder, the clock of its servers, and what was done before it was bent.
type fixture struct {
	t      *testing.T
	binary string
	data   string
	clock  *Clock
	server *serving.Server
	*serving.Client
	failed []error // of what a test asks; a planted fault wants some

	ended   string   // an access token that was revoked
	family  []string // a refresh and an access token of a family that was revoked
	refresh string   // a refresh token that is good
	cookie  string
	caller  string // an application of tier enterprise that makes charged calls
	secret  string
	calls   int
	records float64
}

func open(t *testing.T, binary string) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "") // a socket's path must be short, and that of t.TempDir has the test's name
	if err != nil {
		t.Fatal(err)
	}
	clock, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{t: t, binary: binary, data: filepath.Join(dir, "data"), clock: clock}
	t.Cleanup(func() { h.stop(); clock.Close() })
	h.start()
	h.settle()
	return h
}

func (h *fixture) start() {
	h.t.Helper()
	args := serving.Args(h.data, "--lifetimes-access", "168h", "--lifetimes-refresh", "720h", "--upstreams-allow-private",
		"127.0.0.1")
	cmd := exec.Command(h.binary, args...)
	cmd.Env = append(os.Environ(), h.clock.Variable())
	var err error
	if h.server, err = serving.Start(cmd); err != nil {
		h.t.Fatal(err)
	}
	if h.Client, err = serving.NewClient(h.server.Address, h.data); err != nil {
		h.t.Fatal(err)
	}
	h.Cookie = h.cookie
}

func (h *fixture) stop() {
	if h.server != nil {
		h.Close()
		h.server.End(syscall.SIGTERM)
		h.server = nil
	}
}

// bend sets the clock, under a running server or before it starts again.
func (h *fixture) bend(by time.Duration, live bool) {
	h.t.Helper()
	if !live {
		h.stop()
	}
	h.must(h.clock.Set(by))
	if !live {
		h.start()
	}
	h.sweeps()
}

// sweeps gives the server time to sweep. A promise holds however often it does; a fault in it shows
// at a start, which sweeps before it listens, or here.
func (h *fixture) sweeps() { time.Sleep(100 * time.Millisecond) }

func (h *fixture) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%v\n%s", err, h.server.Log)
	}
}

// want notes what is not as it must be.
func (h *fixture) want(what string, ok bool) {
	if !ok {
		h.failed = append(h.failed, fmt.Errorf("%s", what))
	}
}

// settle does what must still hold when the clock has been wrong and is right again.
func (h *fixture) settle() {
	h.t.Helper()
	h.must(h.SignIn())
	h.cookie = h.Cookie
	h.ended = h.grant().Access
	_, err := h.Revoke(h.ended)
	h.must(err)
	family := h.grant()
	h.family = []string{family.Refresh, family.Access}
	_, err = h.Revoke(family.Refresh)
	h.must(err)
	h.refresh = h.grant().Refresh
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	h.must(h.Run("app create", &made, []string{"name", "Bent", "domain", "localhost"}))
	var set any
	h.must(h.Run("tier set", &set, nil, made.ID, "enterprise"))
	h.caller, h.secret = made.ID, made.Secret
	h.call()
	h.wantTrail()
}

// grant opens a grant of the user who is signed in.
func (h *fixture) grant() serving.Reply {
	h.t.Helper()
	code, verifier, err := h.Authorize()
	h.must(err)
	a, err := h.Exchange(code, verifier)
	h.must(err)
	return a.Reply()
}

// call makes one charged call.
func (h *fixture) call() {
	h.t.Helper()
	a, err := h.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+h.bearer())
	h.must(err)
	if a.Status != http.StatusOK {
		h.t.Fatalf("a call is answered %v", a)
	}
	h.calls++
}

func (h *fixture) bearer() string {
	h.t.Helper()
	a, err := serving.Granted(h.Post("/oauth/token", url.Values{"grant_type": {"client_credentials"},
		"client_id": {h.caller}, "client_secret": {h.secret}}))
	h.must(err)
	return a.Reply().Access
}

func (h *fixture) status(access string) int {
	h.t.Helper()
	a, err := h.Get("/oauth/userinfo", "Authorization", "Bearer "+access)
	h.must(err)
	return a.Status
}

// refreshes reports whether a refresh token brings another.
func (h *fixture) refreshes(token string) (string, bool) {
	h.t.Helper()
	a, err := h.Post("/oauth/token", h.Form("grant_type", "refresh_token", "refresh_token", token))
	h.must(err)
	return a.Reply().Refresh, a.Status == http.StatusOK
}

// wantEnded: what has ended stays so, whatever the clock says.
func (h *fixture) wantEnded(when string) {
	h.t.Helper()
	h.want(when+": a revoked access token is accepted", h.status(h.ended) == http.StatusUnauthorized)
	h.want(when+": an access token of a revoked family is accepted", h.status(h.family[1]) == http.StatusUnauthorized)
	_, works := h.refreshes(h.family[0])
	h.want(when+": a refresh token of a revoked family is accepted", !works)
}

// wantTrail: the trail is whole and nothing of it is gone.
func (h *fixture) wantTrail() {
	h.t.Helper()
	var report struct {
		Whole   bool
		Records float64
	}
	cmd := exec.CommandContext(h.t.Context(), h.binary, "audit", "verify", "--data", h.data, "--json")
	cmd.Env = append(os.Environ(), h.clock.Variable())
	out, err := cmd.CombinedOutput()
	if err != nil && !json.Valid(out) {
		h.t.Fatalf("audit verify: %v\n%s", err, out)
	}
	h.must(json.Unmarshal(out, &report))
	h.want(fmt.Sprintf("the trail is whole: %t, and has %v records where it had %v", report.Whole, report.Records,
		h.records),
		report.Whole && report.Records >= h.records && report.Records > 0)
	h.records = report.Records
}

// wantAccounts: the tier that was given and the calls that were counted are still there.
func (h *fixture) wantAccounts(when string) {
	h.t.Helper()
	var app struct{ Tier string }
	h.must(h.Run("app show", &app, nil, h.caller))
	h.want(when+": the tier is "+app.Tier, app.Tier == "enterprise")
	now := time.Now().UTC()
	counted := 0
	bearer := h.bearer()
	for _, by := range []time.Duration{0, 8 * day, 400 * day} { // a report is of some days only
		counted += h.counted(bearer, now.Add(by))
	}
	h.want(fmt.Sprintf("%s: %d calls are counted, and %d were made", when, counted, h.calls), counted == h.calls)
}

// counted is the charged calls around a day.
func (h *fixture) counted(bearer string, at time.Time) int {
	h.t.Helper()
	from, to := at.Add(-2*day).Format(time.DateOnly), at.Add(3*day).Format(time.DateOnly)
	var usage struct {
		Data struct{ Totals map[string]int }
	}
	a, err := h.Get("/api/v1/usage?"+url.Values{"from": {from}, "to": {to}}.Encode(), "Authorization", "Bearer "+bearer)
	h.must(err)
	if a.Status != http.StatusOK {
		h.t.Fatalf("usage is answered %v", a)
	}
	h.must(a.JSON(&usage))
	return usage.Data.Totals["ai"]
}
