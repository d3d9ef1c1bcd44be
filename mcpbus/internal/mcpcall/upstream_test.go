package mcpcall

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
)

func TestCredentialIsSentAndNeverShown(t *testing.T) {
	for _, c := range []struct {
		to     Upstream
		header string
		want   string
		query  string
	}{
		{Upstream{}, "Authorization", "", "a=%20b"},
		{Upstream{AuthType: "none", Secret: secret("unusedsecret")}, "Authorization", "", "a=%20b"},
		{Upstream{AuthType: "bearer", Secret: secret("topsecret1")}, "Authorization", "Bearer topsecret1", "a=%20b"},
		{Upstream{AuthType: "basic", Secret: secret("user:topsecret1")}, "Authorization", "Basic dXNlcjp0b3BzZWNyZXQx",
			"a=%20b"},
		{Upstream{AuthType: "api_key", AuthIn: "header", AuthName: "x-api-key", Secret: secret("topsecret1")}, "X-Api-Key",
			"topsecret1", "a=%20b"},
		{Upstream{AuthType: "api_key", AuthIn: "query", AuthName: "a", Secret: secret(`top"sec ret&1`)}, "Authorization", "", "b&a=top%22sec+ret%261"},
	} {
		query := ""
		u := serve(t, &upstream{era: Modern})
		u.first = func(_ http.ResponseWriter, r *http.Request, _ sent) bool { query = r.URL.RawQuery; return false }
		u.call = func(m sent) string {
			echo := m.header.Get("Authorization") + m.header.Get("X-Api-Key") + query + c.to.Secret.Reveal()
			return `{"content":[{"type":"text","text":` + quote(echo) + `}],"structuredContent":{"echo":` + quote(echo) + `}}`
		}
		c.to.URL = u.at().URL + "?a=%20b"
		if c.to.AuthIn == "query" {
			c.to.URL = u.at().URL + "?a=1&b&%61=2"
		}
		r, err := client(t, Config{}).Call(t.Context(), c.to, "x", nil)
		if err != nil || r.IsError || u.last().header.Get(c.header) != c.want || query != c.query {
			t.Errorf("%s: %s is %q, the query %q; %v %s", c.to.AuthType, c.header, u.last().header.Get(c.header), query, err,
				texts(r))
		}
		if c.to.AuthType == "none" || c.to.AuthType == "" {
			continue
		}
		for _, leak := range []string{"topsecret1", "user:", "dXNlcjp0b3BzZWNyZXQx", "sec ret", "sec+ret"} {
			if all := texts(r) + string(r.Structured); strings.Contains(all, leak) || !strings.Contains(all, "[secret]") {
				t.Errorf("%s: the result is %s, want %q redacted", c.to.AuthType, all, leak)
			}
		}
	}
}

func TestSecretInAnErrorOrAListIsBlottedOut(t *testing.T) {
	u := serve(t, &upstream{era: Modern, list: func(string) string { return `{"tools":[{"name":"x","description":"use topsecret1"}]}` }})
	u.first = says("tools/call", plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":1,"message":"bad token topsecret1"}}`))
	to := u.at()
	to.AuthType, to.Secret = "bearer", secret("topsecret1")
	c := client(t, Config{})
	found, err := c.Discover(t.Context(), to)
	if err != nil || found.Tools[0].Description != "use [secret]" {
		t.Errorf("Discover() = %+v, %v, want no secret", found, err)
	}
	if r, _ := c.Call(t.Context(), to, "x", nil); !strings.Contains(texts(r), "bad token [secret]") {
		t.Errorf("Call() says %q, want no secret", texts(r))
	}
}

func TestUpstreamThatIsNotSetUpIsNotCalled(t *testing.T) {
	for _, to := range []Upstream{
		{URL: "ftp://x"}, {URL: "http://u:p@x/"}, {URL: "http://x/", AuthType: "bearer"},
		{URL: "http://x/", AuthType: "basic", Secret: secret("nocolonatall")},
		{URL: "http://x/", AuthType: "api_key", AuthIn: "header", AuthName: "Mcp-Session-Id", Secret: secret("s")},
		{URL: "http://x/", AuthType: "magic", Secret: secret("s")},
	} {
		c := client(t, Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			t.Errorf("%+v: a request was sent", to)
			return nil, errors.New("no")
		})})
		r, err := c.Call(t.Context(), to, "x", nil)
		if err != nil || !r.IsError || r.Dispatched || !strings.Contains(texts(r), "register it again") ||
			strings.Contains(texts(r), "nocolon") {
			t.Errorf("%+v: Call() = %+v, %v", to, r, err)
		}
		if _, err := c.Discover(t.Context(), to); err == nil || !strings.Contains(err.Error(), "register it again") {
			t.Errorf("%+v: Discover() = %v", to, err)
		}
	}
	if _, err := client(t, Config{}).Discover(t.Context(), Upstream{URL: "http://x/",
		Member: strings.Repeat("m", 49)}); err == nil || !strings.Contains(err.Error(), "48") {
		t.Errorf("Discover(a long member) = %v, want an error", err)
	}
}

func TestFailuresNameNoUpstream(t *testing.T) {
	u := serve(t, &upstream{era: Modern})
	strict, err := netguard.New(netguard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for says, c := range map[string]struct {
		url       string
		transport http.RoundTripper
	}{
		"address not allowed":  {u.at().URL, strict.Transport()},
		"could not be reached": {"http://127.0.0.1:1/mcp", nil},
		"did not answer in time": {u.at().URL,
			roundTrip(func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded })},
	} {
		to := Upstream{URL: c.url + "?t=topsecret1", AuthType: "bearer", Secret: secret("topsecret1")}
		cl := client(t, Config{Transport: c.transport})
		r, err := cl.Call(t.Context(), to, "x", nil)
		if err != nil || !r.IsError || !r.Dispatched || r.Status != 0 || r.Cause == nil || !strings.Contains(texts(r), says) {
			t.Errorf("%s: Call() = %+v, %v, says %s", says, r, err, texts(r))
		}
		_, err = cl.Discover(t.Context(), to)
		if failure := (*Failure)(nil); !errors.As(err, &failure) || failure.Cause == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: Discover() = %v", says, err)
		}
		for _, leak := range []string{"127.0.0.1", "topsecret1", "dial"} {
			if strings.Contains(texts(r)+err.Error(), leak) {
				t.Errorf("%s: says %s and %v, want no %q", says, texts(r), err, leak)
			}
		}
	}
}
