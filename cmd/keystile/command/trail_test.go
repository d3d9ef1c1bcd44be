package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Decision 32: everything that counts is on the trail, whoever asks for it.
func TestDayIsOnTheAuditTrailAndTheTrailIsWhole(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	record := firstRunOf(t, data)
	granted := redeem(t, s, authorize(t, s), 200)
	wantUserInfo(t, s, granted.AccessToken, 200)
	wantSignIn(t, s, "203.0.113.1", 401)
	post(t, s, "/oauth/revoke", url.Values{"client_id": {record.App.ClientID}, "client_secret": {record.App.ClientSecret},
		"token": {granted.AccessToken}})
	wantUserInfo(t, s, granted.AccessToken, 401)
	must(t, "app", "create", "--name", "Shop", "--domain", "shop.example", "--data", data)

	running := verified(t, data)
	s.stop()
	must(t, "user", "create", "--username", "eve", "--password", "a password to keep", "--data", data)
	stopped := verified(t, data, "--head", running.Heads[0])
	if len(stopped.Heads) != 2 {
		t.Errorf("chains: %q, want the server's and the command's", stopped.Heads)
	}
	var kinds []string
	code, export, errs := command(t, "", "audit", "export", "--data", data)
	if code != 0 {
		t.Fatalf("export = %d %s", code, errs)
	}
	for line := range strings.Lines(export) {
		var e struct {
			Kind, Product, Detail string
			Status                int
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds = append(kinds, strings.TrimSpace(strings.Join([]string{e.Kind, e.Product,
			strings.Join(strings.Fields(e.Detail)[:min(2, len(strings.Fields(e.Detail)))], " "), http.StatusText(e.Status)},
			" ")))
	}
	for _, want := range []string{
		"audit.begin", "signin   See Other", "token  authorization_code without OK", "call identity  OK",
		"signin   Unauthorized", "revocation   OK",
		"call identity  Unauthorized", "admin  app create", "audit.end", "admin  user create",
	} {
		if !slices.Contains(kinds, want) {
			t.Errorf("%q is not on the trail: %q", want, kinds)
		}
	}
	for _, secret := range []string{record.App.ClientSecret, record.Admin.Password, granted.AccessToken,
		granted.RefreshToken, "a password to keep"} {
		if strings.Contains(export, secret) {
			t.Errorf("the trail holds the secret %q", secret)
		}
	}
	file := filepath.Join(t.TempDir(), "trail.csv")
	command(t, "", "audit", "export", "--format", "csv", "--kind", "revocation", "--out", file, "--data", data)
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("exported %q, %v; want a head and one line", text, err)
	}
	wantFailure(t, 1, "is there already", "audit", "export", "--out", file, "--data", data)
	wantFailure(t, 2, "is no time", "audit", "export", "--from", "yesterday", "--data", data)
	wantFailure(t, 2, "jsonl or csv", "audit", "export", "--format", "xml", "--data", data)
	wantFailure(t, 2, "is no head", "audit", "verify", "--head", "x", "--data", data)
	cut := strings.Replace(running.Heads[0], ":", ":9", 1) // a record that never was
	if code, out, errs := command(t, "", "audit", "verify", "--head", cut, "--data", data); code != 1 ||
		!strings.Contains(out, "cut:") || !strings.Contains(errs, "the trail is broken") {
		t.Errorf("verify with a head that never was = %d %s %s", code, out, errs)
	}
}

type trailReport struct {
	Whole   bool
	Records int
	Heads   []string
}

func verified(t *testing.T, data string, args ...string) (r trailReport) {
	t.Helper()
	code, out, errs := command(t, "", append([]string{"audit", "verify", "--json", "--data", data}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || !r.Whole || r.Records == 0 || len(r.Heads) == 0 {
		t.Fatalf("verify says %d %s %s, %v", code, out, errs, err)
	}
	return r
}

func TestAuditSearchFindsWhoBecameAdministratorByWhomAndFromWhat(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	ada := must(t, "user", "create", "--username", "ada", "--password", "a password to keep", "--role", "developer",
		"--data", s.data)["sub"].(string)
	must(t, "user", "set", "ada", "--role", "admin", "--data", s.data)
	s.stop()
	must(t, "user", "set", "ada", "--role", "auditor", "--data", s.data)
	code, out, errs := command(t, "", "audit", "search", "--user", ada, "--kind", "admin", "--data", s.data)
	by := fmt.Sprintf(" by command line, uid %d, ", os.Getuid())
	for _, want := range []string{`role "developer" -> "admin"`, `role "admin" -> "auditor"`} {
		found := regexp.MustCompile("user set " + ada + by + `[^\n:]+: ` + want).FindString(out)
		if code != 0 || found == "" {
			t.Errorf("audit search = %d %s%s, want %s%s", code, out, errs, by, want)
		}
	}
}
