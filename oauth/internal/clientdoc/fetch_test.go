package clientdoc

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/oauth/internal/clientname"
)

func fetcher(t *testing.T, c Config) *Fetcher {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(context.Background()) })
	return f
}

// Any URL may be of these: internal names resolve to such an address, and so may all others.
func TestFetchRefusesInternalAddresses(t *testing.T) {
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan struct{})
	go func() {
		defer close(called)
		if conn, err := inside.Accept(); err == nil {
			conn.Close()
			t.Error("it was dialled")
		}
	}()
	_, port, _ := net.SplitHostPort(inside.Addr().String())
	f := fetcher(t, Config{})
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		_, _, err := f.get(t.Context(), "https://"+host+":"+port+"/client.json", maxDocument)
		problem, ok := errors.AsType[*Problem](err)
		if !ok || !errors.As(err, new(*netguard.Refused)) || problem.Away || strings.ContainsAny(problem.Text, "0123456789") {
			t.Errorf("%s: %v, want it refused, without an address in the text", host, err)
		}
	}
	inside.Close()
	<-called
}

func TestHostThatTheOperatorAdmitsIsRead(t *testing.T) {
	docs := vendordocs.New(t)
	for _, c := range []struct {
		allow, id string
		admitted  bool
	}{
		{"agent.internal:8443", "https://agent.internal:8443/client.json", true},
		{"agent.internal:443", "https://agent.internal/client.json", true},
		{"agent.internal:443", "https://agent.internal:8443/client.json", false},
		{"agent.internal:443", "https://other.internal/client.json", false},
		{"10.0.0.0/8", "https://10.1.2.3/client.json", true},
		{"10.0.0.0/8", "https://11.1.2.3/client.json", false},
		{"10.1.2.3", "https://10.1.2.3:8443/client.json", true},
		{"[fd00::1]:443", "https://[fd00::1]/client.json", true},
		{"[fd00::1]:443", "https://[fd00::1]:8443/client.json", false},
		{"localhost:8443", "https://localhost:8443/client.json", true},
	} {
		docs.Set(c.id, vendordocs.JSON(`{"client_id":"`+c.id+`","redirect_uris":["http://localhost/cb"]}`))
		f := fetcher(t, Config{Allow: []string{c.allow}, Transport: docs})
		if _, err := f.Document(t.Context(), c.id); (err == nil) != c.admitted {
			t.Errorf("with %s, %s: %v, want it read: %t", c.allow, c.id, err, c.admitted)
		}
	}
}

func TestRequestTellsNothingOfTheRequester(t *testing.T) {
	docs := vendordocs.New(t)
	var sent *http.Request
	docs.Set(vendordocs.Zed, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r
		http.SetCookie(w, &http.Cookie{Name: "x", Value: "y"})
		vendordocs.JSON(vendordocs.All(t)[vendordocs.Zed]).ServeHTTP(w, r)
	}))
	f := fetcher(t, Config{Transport: docs.Serve(t)})
	for range 2 {
		d, err := f.Document(t.Context(), vendordocs.Zed)
		if err != nil || d.Name != "Zed" || d.Lifetime != 10*time.Minute {
			t.Fatalf("Document = %+v, %v", d, err)
		}
		if got := len(sent.Header); got != 3 || sent.Header.Get("Accept-Encoding") != "identity" || sent.Method != "GET" {
			t.Errorf("%s with %v, want GET with Accept, Accept-Encoding and User-Agent", sent.Method, sent.Header)
		}
	}
}

func TestDocumentStaysFreshAsItsHostSaysWithinBounds(t *testing.T) {
	for control, want := range map[string]time.Duration{
		"": time.Hour, "max-age=600": 10 * time.Minute, "public, Max-Age=600, immutable": 10 * time.Minute, `max-age="600"`: 10 * time.Minute,
		"max-age=0": 5 * time.Minute, "max-age=1": 5 * time.Minute, "no-store": 5 * time.Minute,
		"no-cache, max-age=600": 5 * time.Minute,
		"max-age=86401":         24 * time.Hour, "max-age=99999999999": 5 * time.Minute, "max-age=-1": 5 * time.Minute,
		"max-age=x": 5 * time.Minute, "s-maxage=7": time.Hour,
	} {
		if got := lifetime(http.Header{"Cache-Control": {control}}); got != want {
			t.Errorf("lifetime(%q) = %v, want %v", control, got, want)
		}
	}
	w := httptest.NewRecorder()
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Header().Set("Age", "1800")
	if got := lifetime(w.Header()); got != 30*time.Minute {
		t.Errorf("of an answer that a cache has held for half its life: %v, want the other half", got)
	}
}

func TestNameIsShownWithoutWhatIsNotSeen(t *testing.T) {
	for claimed, want := range map[string]string{
		"Claude Code": "Claude Code", "  Agent \n\t Smith  ": "Agent Smith", "Agent\u202etxt.exe": "Agenttxt.exe",
		"A\u200bg\u00ade\u2060n\ufefft": "Agent",
		"\u3164\u115f\u2800\u180e":      "", "\x00\x1b[31mred": "[31mred", "小明的代理": "小明的代理", "Agent\ufe0f\U000e0041": "Agent",
		"\u2066Bank\u2069": "Bank", "": "",
		strings.Repeat("é", 101): strings.Repeat("é", 80),
	} {
		if got := clientname.Clean(claimed); got != want {
			t.Errorf("Clean(%q) = %q, want %q", claimed, got, want)
		}
	}
	f := fetcher(t, Config{})
	d, err := f.Parse(vendordocs.Zed, []byte(`{"client_id":"`+vendordocs.Zed+`","client_name":"\u200b","redirect_uris":["http://127.0.0.1/callback"]}`))
	if err != nil || d.Name != "zed.dev" {
		t.Errorf("of a document without a name that is seen: %q, %v, want its host", d.Name, err)
	}
}

func TestClientDocumentKeepsOnlyKnownMembers(t *testing.T) {
	f := fetcher(t, Config{})
	const id = "https://agent.example.net/client.json"
	for _, c := range []struct{ members, grants, method string }{
		{``, "[authorization_code refresh_token]", "none"},
		{`,"grant_types":["authorization_code"]`, "[authorization_code]", "none"},
		{`,"grant_types":["implicit","refresh_token","authorization_code"]`, "[authorization_code refresh_token]", "none"},
		{`,"grant_types":["urn:ietf:params:oauth:grant-type:device_code"],"response_types":[]`, "[urn:ietf:params:oauth:grant-type:device_code]", "none"},
		{`,"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"https://keys.example.org/a?b"`, "[authorization_code refresh_token]", "private_key_jwt"},
		{`,"token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{"kty":"RSA"}]}`, "[authorization_code refresh_token]", "private_key_jwt"},
		{`,"token_endpoint_auth_method":"tls_client_auth","token_endpoint_auth_methods_supported":["client_secret_basic","none"]`, "[authorization_code refresh_token]", "none"},
		{`,"token_endpoint_auth_method":"none","token_endpoint_auth_methods_supported":["private_key_jwt"]`, "[authorization_code refresh_token]", "none"},
		{`,"scope":1,"contacts":{},"logo_uri":["x"]`, "[authorization_code refresh_token]", "none"},
	} {
		d, err := f.Parse(id, []byte(`{"client_id":"`+id+`","redirect_uris":["http://127.0.0.1/callback"]`+c.members+`}`))
		if err != nil || strings.Join(d.Client.Grants, " ") != strings.Trim(c.grants, "[]") ||
			d.Client.AuthMethod != c.method {
			t.Errorf("Parse with %s = %+v, %v, want %s and %s", c.members, d.Client, err, c.grants, c.method)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range vendordocs.All(f) {
		f.Add(text)
	}
	f.Add(`{"client_id":"https://zed.dev/x","jwks":{"keys":[{"kty":"RSA","d":1}]}}`)
	reader, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := reader.Parse(vendordocs.Zed, []byte(text))
		if err != nil {
			if !errors.As(err, new(*Problem)) {
				t.Errorf("%v is no Problem", err)
			}
			return
		}
		if len(d.Client.RedirectURIs) > maxRedirects || len(d.Name) > clientname.Max || d.Name == "" ||
			d.Client.AuthMethod == "" || len(d.Client.Grants) == 0 {
			t.Errorf("%+v", d)
		}
		if strings.Contains(string(d.Client.Keys), `"d"`) {
			t.Errorf("keys %s", d.Client.Keys)
		}
	})
}
