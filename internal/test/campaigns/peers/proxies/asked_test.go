package proxies

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/gateway"
)

// desk stands in for Keystile where a test has to see what is asked, or to answer what
// Keystile answers rarely.
type desk struct {
	*recorder
	answer atomic.Pointer[http.HandlerFunc]
}

// say makes the desk answer so, until it is told otherwise.
func (d *desk) say(h http.HandlerFunc) { d.answer.Store(&h) }

// pass lets a call through, with name and value pairs as headers.
func pass(headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
	}
}

var caller = []string{"X-Keystile-Client", "app1", "X-Keystile-User", "u1", "X-Keystile-Scope", "openid profile",
	"X-Keystile-Tier", "free"}

func TestProxyAsksAtTheDesk(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		d := &desk{}
		d.recorder = record(t, func(w http.ResponseWriter, r *http.Request) { (*d.answer.Load())(w, r) })
		d.say(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		service := record(t, greet)
		c := client{k.start(t, d.address, service.address), "127.0.0.21", "the-token"}
		d.take()
		for _, promise := range []struct {
			name string
			test func(*testing.T, client, *desk, *recorder)
		}{
			{"about the client's own call, and about no more than it", asksAboutTheCall},
			{"about each call again", asksEachTime},
			{"and tells the service what it hears", tellsTheService},
			{"and hands on nothing that a client says of itself", handsOnNoClaim},
			{"and lets pass what the client sends, whole", passesBodies},
			{"and lets nothing pass but what it is told to", passesNothingElse},
		} {
			t.Run(promise.name, func(t *testing.T) { promise.test(t, c, d, service) })
		}
	})
}

// A service that verifies tokens itself is to have them, and then its operator says so.
func TestTokenPassesWhereTheFileSaysSo(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		text := read(t, k.files[len(k.files)-1])
		if n := strings.Count(text, k.withholds); n != 1 {
			t.Fatalf("%q stands %d times in the file, want once", k.withholds, n)
		}
		d, service := record(t, pass(caller...)), record(t, greet)
		client{k.start(t, d.address, service.address, k.withholds), "127.0.0.22", "the-token"}.get(t, "/mine").wantPassed(t)
		calls := service.take()
		if call := calls[len(calls)-1]; call.uri != "/mine" || call.header.Get("Authorization") != "Bearer the-token" {
			t.Errorf("the service got %+v", call)
		}
	})
}

func asksAboutTheCall(t *testing.T, c client, d *desk, service *recorder) {
	d.say(pass(caller...))
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		uri := "/a/b%2Fc?product=payment&q=%20x"
		c.call(t, method, uri, strings.NewReader("a body"), "Cookie", "open_sso_token=SECRET; theme=dark",
			"X-Keystile-Product", "payment", "X-Request-Id", "id-1",
			"X-Forwarded-Method", "HEAD", "X-Forwarded-Uri", "/forged", "X-Forwarded-For", "203.0.113.1", "X-Original-Uri",
			"/forged", "X-Original-Method", "HEAD").wantPassed(t)
		ask, call := d.one(t), service.one(t)
		path, query, _ := strings.Cut(ask.uri, "?")
		if first, _, _ := strings.Cut(query, "&"); path != "/api/v1/verify" || first != "product=ai" {
			t.Errorf("%s: asked at %s, want /api/v1/verify?product=ai", method, ask.uri)
		}
		for name, want := range map[string]string{
			"Authorization": "Bearer the-token", "X-Forwarded-Method": method, "X-Forwarded-Uri": uri,
			"Cookie": "", "X-Keystile-Product": "", "Transfer-Encoding": "", "X-Original-Uri": "", "X-Original-Method": "",
		} {
			if got := strings.Join(ask.header.Values(name), ", "); got != want {
				t.Errorf("%s: asked with %s %q, want %q", method, name, got, want)
			}
		}
		if from := ask.header.Values("X-Forwarded-For"); len(from) != 1 || !strings.HasSuffix(from[0], "127.0.0.21") {
			t.Errorf("%s: asked for the address %q, want the client's at the end", method, from)
		}
		if length := ask.header.Get("Content-Length"); ask.body != "" || length != "" && length != "0" {
			t.Errorf("%s: asked with the body %q of %q bytes, want none", method, ask.body, length)
		}
		if call.method != method || call.uri != uri || call.header.Get("Authorization") != "" ||
			call.header.Get("Cookie") != "" {
			t.Errorf("%s %s: the service got %+v", method, uri, call)
		}
		if sent, got := ask.header.Get("X-Request-Id"), call.header.Get("X-Request-Id"); sent != got || sent == "" {
			t.Errorf("%s: the ids are %q and %q, want the same on the trail and at the service", method, sent, got)
		}
	}
}

func asksEachTime(t *testing.T, c client, d *desk, service *recorder) {
	d.say(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600") // what Keystile never says
		pass(caller...)(w, r)
	})
	for range 3 {
		c.get(t, "/same").wantPassed(t)
	}
	if n := len(d.take()); n != 3 {
		t.Errorf("asked %d times about 3 calls, want once each", n)
	}
	d.say(http.NotFound)
	service.take()
	c.get(t, "/same")
	service.wantNone(t)
	d.take()
}

func tellsTheService(t *testing.T, c client, d *desk, service *recorder) {
	without := func(name string) []string { // as Keystile of old, which left empty ones out
		i := slices.Index(caller, name)
		return slices.Concat(caller[:i], caller[i+2:])
	}
	empty := func(name string) []string {
		said := slices.Clone(caller)
		said[slices.Index(said, name)+1] = ""
		return said
	}
	for _, said := range [][]string{caller, without(gateway.HeaderUser), without(gateway.HeaderScope),
		empty(gateway.HeaderUser), empty(gateway.HeaderScope)} {
		d.say(pass(append(slices.Clone(said), "Set-Cookie", "a=b", "X-Other", "of Keystile")...))
		got := c.get(t, "/", "X-Keystile-User", "forged", "X-Keystile-Scope", "forged")
		got.wantPassed(t)
		want := map[string]string{}
		for j := 0; j < len(said); j += 2 {
			if said[j+1] != "" {
				want[strings.ToUpper(said[j])] = said[j+1]
			}
		}
		call := service.one(t)
		heard := told(call.header)
		if len(heard) != len(want) {
			t.Errorf("the service is told %q, want %q", heard, want)
		}
		for name, value := range want {
			if heard[name] != value {
				t.Errorf("the service is told %s %q, want %q", name, heard[name], value)
			}
		}
		if call.header.Get("X-Other") != "" || got.header.Get("X-Keystile-Client") != "" ||
			got.header.Get("Set-Cookie") != "" {
			t.Errorf("what Keystile says beside it goes on: to the service %v, to the client %v", call.header, got.header)
		}
	}
	d.take()
}

// handsOnNoClaim asks once for each character that a name may hold: all at once are more than a proxy reads.
func handsOnNoClaim(t *testing.T, c client, d *desk, service *recorder) {
	d.say(pass(caller...))
	for _, sent := range slices.Concat([][]string{claimed}, folded(append(slices.Clone(claimed), "X-Keystile-User"))) {
		var headers []string
		for _, name := range sent {
			headers = append(headers, name, "forged")
		}
		c.get(t, "/", append(headers, "X-Own", "own")...).wantPassed(t)
		call := service.one(t)
		for name, values := range call.header {
			if strings.Contains(strings.Join(values, ""), "forged") {
				t.Errorf("the service got %s: %q", name, values)
			}
		}
		if heard := told(call.header); len(heard) != len(caller)/2 || heard["X-KEYSTILE-USER"] != "u1" ||
			call.header.Get("X-Own") != "own" {
			t.Errorf("beside %q the service is told %q, and got X-Own %q", sent, heard, call.header.Get("X-Own"))
		}
	}
	// A proxy that hands a request on takes off the headers that Connection names.
	c.get(t, "/", "Connection", "X-Keystile-User, X-Keystile-Client", "Connection", "X-Keystile-Tier").wantPassed(t)
	if heard := told(service.one(t).header); len(heard) != len(caller)/2 {
		t.Errorf("beside a client's Connection the service is told %q, want all of %q", heard, caller)
	}
	d.take()
}

// claimed are headers that every file takes away, spelled as clients may.
var claimed = []string{
	"X-Keystile-Product", "Forwarded", "Client-IP", "x-client-ip", "True-Client-Ip", "CF-Connecting-IP", "Proxy-Client-IP",
	"WL-Proxy-Client-IP", "Remote-User", "X-Remote-User",
	"X-Original-Uri", "X-Original-URL", "x-original-method", "X-Original-Host", "X-Rewrite-Url", "X-HTTP-Method-Override",
	"X-Http-Method", "X-Method-Override", "X-Forwarded-User",
	"X-Forwarded-Prefix", "Proxy",
}

// folded returns names as CGI and PHP take them for the same: with each character of RFC 9110 5.6.2 for -.
func folded(names []string) (all [][]string) {
	for _, c := range "!#$%&'*+.^_`|~" {
		var spelled []string
		for _, name := range names {
			spelled = append(spelled, strings.ReplaceAll(name, "-", string(c)), strings.Replace(name, "-", string(c), 1))
			if !strings.Contains(name, "-") {
				spelled = append(spelled, name+string(c))
			}
		}
		slices.Sort(spelled)
		all = append(all, slices.DeleteFunc(slices.Compact(spelled),
			func(name string) bool { return !strings.ContainsRune(name, c) }))
	}
	return all
}

func passesBodies(t *testing.T, c client, d *desk, service *recorder) {
	d.say(pass(caller...))
	for name, body := range map[string]io.Reader{
		"of a known length": strings.NewReader(strings.Repeat("x", 300_000)),
		"in chunks":         io.MultiReader(strings.NewReader(strings.Repeat("x", 300_000))),
	} {
		c.call(t, "POST", "/upload", body).wantPassed(t)
		if call := service.one(t); len(call.body) != 300_000 {
			t.Errorf("%s: %d bytes arrive, want 300000", name, len(call.body))
		}
		if ask := d.one(t); ask.body != "" {
			t.Errorf("%s: %d bytes are sent along with the question", name, len(ask.body))
		}
	}
}

func passesNothingElse(t *testing.T, c client, d *desk, service *recorder) {
	for name, h := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter,
			_ *http.Request) {
			w.Header().Set("Location", "/")
			w.WriteHeader(302)
		},
		"an unknown product": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) },
		"no verdict": func(w http.ResponseWriter,
			_ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
		},
		"a failure":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"a broken connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			io.WriteString(conn, "HTTP/1.1 20")
			conn.Close()
		},
	} {
		d.say(h)
		if a := c.get(t, "/"); a.status < 300 || a.body == "hello from the service" {
			t.Errorf("%s: answered %d %s, want a refusal", name, a.status, a.body)
		}
		if n := len(service.take()); n > 0 {
			t.Errorf("%s: the service is reached", name)
		}
	}
	d.take()
}
