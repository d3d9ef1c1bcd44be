package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/internal/test/filled"
)

// orders is an upstream with a credential, whose answers are hostile, long or errors.
type orders struct {
	*httptest.Server
	calls, strangers atomic.Int64
}

const shopSecret = "sesame-0123456789"

func newOrders(t *testing.T) *orders {
	o := new(orders)
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.calls.Add(1)
		if r.Header.Get("Authorization") != "Bearer "+shopSecret {
			o.strangers.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/orders/17":
			w.Write([]byte(`{"id":17,"note":"\"><script>alert(1)</script>","link":"javascript:alert(1)","by":"` + "\u202e" + `anim","key":"` + shopSecret + `"}`))
		case "/orders/5":
			w.Write([]byte(`{"id":5,"note":"` + strings.Repeat("0123456789", 500_000) + `"}`))
		default:
			w.WriteHeader(http.StatusInternalServerError)
			w.Write([]byte(`{"error":"the shop is closed"}`))
		}
	}))
	t.Cleanup(o.Close)
	return o
}

var formField = regexp.MustCompile(`name="(form|do)" value="([^"]+)"`)

// try sends the form of a tool's page with an id, and returns what to send for sending it again.
func try(t *testing.T, s *service, cookie, path, id string) (status int, page string, again func() int) {
	t.Helper()
	_, page = get(t, http.DefaultClient, s.base+path, "Cookie", cookie)
	form := url.Values{}
	for _, f := range formField.FindAllStringSubmatch(page, -1) {
		form.Set(f[1], f[2])
	}
	form.Set(attribute(t, page, `<input[^>]* name="(a[.]0)"`), id)
	send := func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+path, strings.NewReader(form.Encode()))
		fatal(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", s.base)
		req.Header.Set("Cookie", cookie)
		resp, body := do(t, http.DefaultClient, req)
		return resp.StatusCode, body
	}
	status, page = send()
	return status, page, func() int { n, _ := send(); return n }
}

// consoleData returns the data of an endpoint of the console.
func consoleData[T any](t *testing.T, s *service, cookie, path string) T {
	t.Helper()
	resp, body := get(t, http.DefaultClient, s.base+path, "Cookie", cookie)
	var v struct{ Data T }
	if err := json.Unmarshal([]byte(body), &v); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s is %d %s", path, resp.StatusCode, body)
	}
	return v.Data
}

// A call from the form is a real one: it is charged to its sender, once, and recorded.
func TestToolThatIsTriedIsCalledChargedAndRecordedOnce(t *testing.T) {
	t.Parallel()
	shop := newOrders(t)
	s := start(t, t.TempDir(), "--upstreams-allow-private", "127.0.0.0/8")
	registered(t, s, `{"member":"shop","upstream_url":"`+shop.URL+`","auth_type":"bearer","auth_secret":"`+shopSecret+`","openapi":`+filled.Bookshop+`}`, 200)
	cookie, path := cookieOf(t, s).String(), "/console/capabilities/shop/tools/getOrder"

	status, page, again := try(t, s, cookie, path, "17")
	if status != 200 || !strings.Contains(page, "The tool answered.") ||
		!strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Fatalf("the answer is %d %s", status, page)
	}
	for _, not := range []string{"<script>alert", `href="javascript:`, shopSecret, "\u202e"} {
		if strings.Contains(page, not) {
			t.Errorf("the page of the answer has %q", not)
		}
	}
	if n := again(); n != 409 {
		t.Errorf("the form sent again is %d, want 409", n)
	}
	if n, strangers := shop.calls.Load(), shop.strangers.Load(); n != 1 || strangers != 0 {
		t.Errorf("the upstream got %d calls, %d without the credential, want 1 with it", n, strangers)
	}

	users := consoleData[struct{ Users []struct{ Sub string } }](t, s, cookie,
		"/api/console/users?q="+firstRunOf(t, s.data).Admin.Username).Users
	if len(users) != 1 {
		t.Fatalf("there are the administrators %v", users)
	}
	sub := users[0].Sub
	if calls := consoleData[struct{ Calls int64 }](t, s, cookie, "/api/console/usage").Calls; calls != 1 {
		t.Errorf("%d calls are charged, want 1", calls)
	}

	if status, page, _ = try(t, s, cookie, path, "99"); status != 200 ||
		!strings.Contains(page, "The tool answered with an error.") || !strings.Contains(page, "500") {
		t.Errorf("an upstream that fails is shown as %d %s", status, page)
	}
	if status, page, _ = try(t, s, cookie, path, "5"); status != 200 || len(page) > 60<<10 {
		t.Errorf("an answer of 5 MB is %d, %d bytes", status, len(page))
	}
	if before := shop.calls.Load(); before != 3 {
		t.Errorf("the upstream got %d calls, want 3", before)
	}
	if status, page, _ = try(t, s, cookie, path, "seventeen"); status == 200 && !strings.Contains(page, "error") ||
		shop.calls.Load() != 3 {
		t.Errorf("an argument that is no integer is %d after %d calls: %s", status, shop.calls.Load(), page)
	}

	s.stop() // what was recorded is written down
	for by, want := range map[string]string{"--tools": "shop__getOrder", "--users": sub} {
		code, top, errs := command(t, "", "usage", "top", by, "--csv", "--data", s.data)
		if code != 0 || !strings.Contains(top, want+",3,1") {
			t.Errorf("usage top %s is %d %s%s, want three calls and an error of %s", by, code, top, errs, want)
		}
	}
	code, trail, errs := command(t, "", "audit", "search", "--kind", "tool", "--json", "--data", s.data)
	if code != 0 || strings.Count(trail, `"kind":"tool"`) < 3 || strings.Count(trail, "shop__getOrder") < 3 || strings.Contains(trail, shopSecret) {
		t.Errorf("the trail of tools is %d %s%s", code, trail, errs)
	}
	for line := range strings.Lines(trail) {
		if strings.Contains(line, "shop__getOrder") && !strings.Contains(line, sub) {
			t.Errorf("a call is recorded without who made it: %s", line)
		}
	}
}
