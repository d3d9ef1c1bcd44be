package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// caller is an application that does what the program prints.
type caller struct {
	*testing.T
	origin, id, secret string
	token              string
}

var printed = regexp.MustCompile(`curl -s (\S+)/oauth/token -d grant_type=client_credentials -d client_id=(\S+) -d client_secret=(\S+)`)

// arrive starts the program on a free port and stops it with the test.
func arrive(t *testing.T) *caller {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	output, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, "127.0.0.1:0", out)
		out.CloseWithError(fmt.Errorf("the program has ended: %w", err))
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("it ends with %v, want no error", err)
		}
	})
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if found := printed.FindStringSubmatch(line); found != nil {
			go io.Copy(io.Discard, lines)
			return &caller{T: t, origin: found[1], id: found[2], secret: found[3]}
		}
	}
}

func (c *caller) authorize() *caller {
	c.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id}, "client_secret": {c.secret}}
	r, _ := http.NewRequestWithContext(c.Context(), http.MethodPost, c.origin+"/oauth/token",
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, body := c.do(r, http.StatusOK)
	var v struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || v.AccessToken == "" {
		c.Fatalf("token = %s, want an access_token", body)
	}
	c.token = v.AccessToken
	return c
}

func (c *caller) call(path string, want int) (http.Header, string) {
	c.Helper()
	r, _ := http.NewRequestWithContext(c.Context(), http.MethodGet, c.origin+path, nil)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.do(r, want)
}

func (c *caller) do(r *http.Request, want int) (http.Header, string) {
	c.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		c.Fatalf("%s %s = %d %s (%v), want %d", r.Method, r.URL.Path, resp.StatusCode, body, err, want)
	}
	return resp.Header, string(body)
}

// quota returns what is left, and what was charged to the service's product this month.
func (c *caller) quota() (left, charged int64) {
	c.Helper()
	_, body := c.call("/api/v1/quota", http.StatusOK)
	var v struct {
		Data struct {
			Quota struct {
				Remaining int64 `json:"calls_remaining"`
			} `json:"quota"`
			Month map[string]int64 `json:"usage_this_month"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		c.Fatalf("quota = %s: %v", body, err)
	}
	if _, named := v.Data.Month[product]; !named {
		c.Fatalf("quota = %s, want it to name %s", body, product)
	}
	return v.Data.Quota.Remaining, v.Data.Month[product]
}

func TestCallIsGreetedAndTheQuotaFallsByOne(t *testing.T) {
	c := arrive(t).authorize()
	left, charged := c.quota()
	if _, body := c.call("/hello", http.StatusOK); body != "hello, "+c.id+"\n" {
		t.Errorf("hello = %q, want %s to be greeted", body, c.id)
	}
	if l, n := c.quota(); l != left-1 || n != charged+1 {
		t.Errorf("after a call %d are left and %d charged, want %d and %d", l, n, left-1, charged+1)
	}
}

func TestUsersHaveAnAccountPage(t *testing.T) {
	c := arrive(t)
	if _, page := c.call("/oauth/account", http.StatusOK); !strings.Contains(page, `name="password"`) {
		t.Errorf("the account page does not ask who it is: %s", page)
	}
	c.call("/oauth/signin/consent", http.StatusMethodNotAllowed) // it is there, for forms
}

func TestEndpointWithoutAProductIsFree(t *testing.T) {
	c := arrive(t).authorize()
	left, _ := c.quota()
	_, body := c.call("/whoami", http.StatusOK)
	var v map[string]string
	if err := json.Unmarshal([]byte(body), &v); err != nil || v["application"] != c.id || v["user"] != "" ||
		v["scope"] != "app" {
		t.Errorf("whoami = %s, want %s for itself", body, c.id)
	}
	if l, _ := c.quota(); l != left {
		t.Errorf("after a free call %d are left, want %d", l, left)
	}
}

func TestBackendRefusesRequestsWithoutAToken(t *testing.T) {
	c := arrive(t)
	for _, c.token = range []string{"", "made-up", c.secret} {
		for _, path := range []string{"/hello", "/whoami"} {
			header, body := c.call(path, http.StatusUnauthorized)
			if !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") || !strings.Contains(body, `"errcode":401`) {
				t.Errorf("%s without a good token = %v %s, want a challenge and JSON", path, header, body)
			}
		}
	}
}

func TestRateOfAnApplicationIsKept(t *testing.T) {
	c := arrive(t).authorize() // the first of 60
	for range 59 {
		c.call("/whoami", http.StatusOK)
	}
	if header, _ := c.call("/hello", http.StatusTooManyRequests); header.Get("Retry-After") == "" {
		t.Error("the refusal does not say when to come back")
	}
}

func TestProgramReportsWhyItCannotStart(t *testing.T) {
	if err := run(t.Context(), "nowhere:nothing", io.Discard); err == nil {
		t.Error("run() on an address that there is not = no error, want one")
	}
}
