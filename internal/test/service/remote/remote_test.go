package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestServiceElsewhereLearnsWhoCalls(t *testing.T) {
	s := newService(t)
	v := s.verifier()
	own := s.bearer()
	caller, err := v.Verify(t.Context(), own)
	if err != nil || caller.AppID != s.app.ID || caller.UserID != "" || caller.Audience != issuer {
		t.Errorf("an application's own token: %+v, %v", caller, err)
	}
	if same, _ := s.tokens.Verify(t.Context(), own); !reflect.DeepEqual(caller, same) {
		t.Errorf("here it is %+v, at the service %+v", caller, same)
	}
	caller, err = v.Verify(t.Context(), forgery.Genuine(t, s.forged("openid email")))
	if err != nil || caller.AppID != s.app.ID || caller.UserID != "u1" || caller.Scope != "openid email" {
		t.Errorf("a user's token: %+v, %v", caller, err)
	}
	if n := s.times("/oauth/jwks"); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	s := newService(t)
	v := s.verifier()
	wantStatus(t, func() error { _, err := v.Verify(t.Context(), forgery.Genuine(t, s.forged(""))); return err }(), 200,
		"the genuine one")
	for _, f := range forgery.All(t, s.forged("")) {
		_, err := v.Verify(t.Context(), f.Token)
		wantStatus(t, err, 401, f.Name)
	}
	if n := s.times("/oauth/jwks"); n != 1 {
		t.Errorf("their kids had the keys fetched %d times within the pause", n-1)
	}
}

func TestTokenIsForItsAudience(t *testing.T) {
	const reports = "https://reports.example.com"
	s := newService(t, reports)
	here := s.verifier(func(c *remote.Config) { c.Audiences = []string{reports} })
	for _, c := range []struct {
		v      *remote.Verifier
		bearer string
		want   int
		what   string
	}{
		{here, s.bearer("resource", reports), 200, "a token for this service"},
		{here, s.bearer(), 401, "a token for Keystile itself"},
		{s.verifier(), s.bearer("resource", reports), 401, "a token for another service"},
	} {
		_, err := c.v.Verify(t.Context(), c.bearer)
		wantStatus(t, err, c.want, c.what)
	}
}

func TestTokenEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v, bearer := s.verifier(), s.bearer()
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{0, 200}, {168*time.Hour - time.Second, 200}, {time.Second, 401}} {
			time.Sleep(c.wait)
			_, err := v.Verify(t.Context(), bearer)
			wantStatus(t, err, c.want, c.wait.String())
		}
	})
}

// rotate makes the next key the active one, and draws another.
func (s *service) rotate() {
	s.Helper()
	must(token.Rotate(s.Context(), s.store, token.ES256, 168*time.Hour))(s)
	if err := s.tokens.ReloadKeys(s.Context()); err != nil {
		s.Fatal(err)
	}
}

func TestRotatedKeysAreFetchedOnceTheyAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v := s.verifier()
		old := s.bearer()
		wantStatus(t, v.Ready(t.Context()), 200, "ready")
		s.rotate()
		_, err := v.Verify(t.Context(), s.bearer())
		wantStatus(t, err, 200, "signed with the key that was next")
		if n := s.times("/oauth/jwks"); n != 1 {
			t.Errorf("the keys were fetched %d times, want 1: the next one is published before", n)
		}
		s.rotate() // and now with one that was drawn since
		fresh := s.bearer()
		_, err = v.Verify(t.Context(), fresh)
		wantStatus(t, err, 401, "within the pause")
		time.Sleep(10 * time.Second)
		_, err = v.Verify(t.Context(), fresh)
		wantStatus(t, err, 200, "after it")
		_, err = v.Verify(t.Context(), old)
		wantStatus(t, err, 200, "signed with a retired key")
		keys := must(s.store.SigningKeys(t.Context()))(t)
		for _, k := range keys {
			if k.State == storage.KeyRetired {
				if err := token.Retire(t.Context(), s.store, k.ID, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.tokens.ReloadKeys(t.Context())
		time.Sleep(5 * time.Minute)
		_, err = v.Verify(t.Context(), old)
		wantStatus(t, err, 401, "its key was withdrawn, five minutes later")
	})
}

func TestMadeUpKidsCauseNoFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v, bearer := s.verifier(), s.bearer()
		wantStatus(t, v.Ready(t.Context()), 200, "ready")
		unknown := func(i int) string {
			head := fmt.Sprintf(`{"alg":"ES256","kid":"made-up-%d","typ":"at+jwt"}`, i)
			return base64.RawURLEncoding.EncodeToString([]byte(head)) + bearer[strings.IndexByte(bearer, '.'):]
		}
		for i := range 600 { // ten a second
			var all sync.WaitGroup
			for j := range 5 {
				all.Go(func() {
					_, err := v.Verify(t.Context(), unknown(5*i+j))
					wantStatus(t, err, 401, "a stranger")
				})
			}
			all.Go(func() {
				_, err := v.Verify(t.Context(), bearer)
				wantStatus(t, err, 200, "a genuine token beside them")
			})
			all.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		if n := s.times("/oauth/jwks"); n < 2 || n > 7 {
			t.Errorf("the keys were fetched %d times in a minute, want 7 at most", n)
		}
	})
}

func TestFetchRunsOneAtATimeAndGenuineTokensDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v, bearer := s.verifier(), s.bearer()
		wantStatus(t, v.Ready(t.Context()), 200, "ready")
		hang := make(chan struct{})
		s.set(nil, func(_ http.ResponseWriter, r *http.Request) bool { <-hang; return false })
		time.Sleep(6 * time.Minute)
		var all sync.WaitGroup
		all.Go(func() { wantStatus(t, v.Ready(t.Context()), 200, "whoever fetches") })
		synctest.Wait()
		for range 10 {
			began := time.Now()
			_, err := v.Verify(t.Context(), bearer)
			wantStatus(t, err, 200, "beside it")
			if time.Since(began) != 0 {
				t.Error("it waited")
			}
		}
		close(hang)
		all.Wait()
		if n := s.times("/oauth/jwks"); n != 2 {
			t.Errorf("the keys were fetched %d times, want 2", n)
		}
	})
}

func TestKeysGoOnForAnHourWhileTheServiceIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v, bearer := s.verifier(), s.bearer()
		s.set(errors.New("no route"), nil)
		for range 100 {
			_, err := v.Verify(t.Context(), bearer)
			wantStatus(t, err, 503, "before any keys are there")
		}
		if n := s.times("/oauth/jwks"); n != 1 {
			t.Errorf("a service that is away is asked %d times at once", n)
		}
		s.set(nil, nil)
		time.Sleep(10 * time.Second)
		_, err := v.Verify(t.Context(), bearer)
		wantStatus(t, err, 200, "it is back")

		s.set(errors.New("no route"), nil)
		time.Sleep(59 * time.Minute)
		_, err = v.Verify(t.Context(), bearer)
		wantStatus(t, err, 200, "59 minutes after the last good fetch")
		_, err = v.Verify(t.Context(), strings.Replace(bearer, ".", "x.", 1))
		wantStatus(t, err, 401, "what is no token")
		time.Sleep(time.Minute)
		_, err = v.Verify(t.Context(), bearer)
		wantStatus(t, err, 503, "an hour after it")
		s.set(nil, nil)
		time.Sleep(10 * time.Second)
		_, err = v.Verify(t.Context(), bearer)
		wantStatus(t, err, 200, "it is back")
	})
}

func TestUnknownKidIsNotRefusedWhileTheKeysCannotBeFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v := s.verifier()
		wantStatus(t, v.Ready(t.Context()), 200, "ready")
		s.rotate()
		s.rotate()
		s.set(errors.New("no route"), nil)
		time.Sleep(time.Minute)
		_, err := v.Verify(t.Context(), s.bearer())
		wantStatus(t, err, 503, "it may be signed with a new key")
	})
}

// endless is a key set that does not end.
type endless struct{ read *int }

func (e endless) Read(p []byte) (int, error) { *e.read += len(p); return len(p), nil }

func TestKeySetThatIsInvalidIsRefused(t *testing.T) {
	for name, override := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"a failure": func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true },
		"a page":    func(w http.ResponseWriter, _ *http.Request) bool { io.WriteString(w, "<html>"); return true },
		"no keys":   func(w http.ResponseWriter, _ *http.Request) bool { io.WriteString(w, `{"keys":[]}`); return true },
		"another site": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "https://evil.example/jwks", http.StatusFound)
			return true
		},
		"too much": func(w http.ResponseWriter, _ *http.Request) bool {
			io.WriteString(w, `{"keys":[],"x":"`+strings.Repeat("x", 256<<10)+`"}`)
			return true
		},
	} {
		s := newService(t)
		s.set(nil, override)
		_, err := s.verifier().Verify(t.Context(), s.bearer())
		wantStatus(t, err, 503, name)
	}
	read := 0
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(endless{&read}), Request: r}, nil
	})}
	v := must(remote.New(t.Context(), remote.Config{BaseURL: issuer, Client: client, Log: quiet}))(t)
	wantStatus(t, v.Ready(t.Context()), 503, "without an end")
	if read > 1<<20 {
		t.Errorf("%d bytes of it were read", read)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestServiceThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		v := must(remote.New(t.Context(), remote.Config{BaseURL: issuer, Client: client, Log: quiet}))(t)
		began := time.Now()
		wantStatus(t, v.Ready(t.Context()), 503, "it hangs")
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it is given up after %v, want 5 s", took)
		}
	})
}

func TestRevokedTokenIsRefusedWithCheckEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		local, checking := s.verifier(), s.verifier(func(c *remote.Config) { c.CheckEvery = time.Minute })
		bearer := s.bearer()
		both := func(want int, what string) {
			t.Helper()
			_, err := local.Verify(t.Context(), bearer)
			wantStatus(t, err, 200, what+", verified locally")
			_, err = checking.Verify(t.Context(), bearer)
			wantStatus(t, err, want, what+", asked about")
		}
		for range 10 {
			both(200, "a good token")
		}
		if n := s.times("/api/v1/verify"); n != 1 {
			t.Errorf("the service was asked %d times in no time", n)
		}
		caller := must(local.Verify(t.Context(), bearer))(t)
		if err := s.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: caller.Grant}); err != nil {
			t.Fatal(err)
		}
		both(200, "revoked, within the minute")
		time.Sleep(time.Minute)
		for range 10 {
			both(401, "a minute later")
		}
		if n := s.times("/api/v1/verify"); n != 2 {
			t.Errorf("the service was asked %d times, want 2: a refusal is remembered too", n)
		}
	})
}

func TestServicesVerdictOnATokenIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v := s.verifier(func(c *remote.Config) { c.CheckEvery = time.Minute })
		check := func(want int, what string) {
			t.Helper()
			_, err := v.Verify(t.Context(), s.bearer())
			wantStatus(t, err, want, what)
		}
		for range 60 {
			check(200, "within the rate of the application")
		}
		check(429, "over it")
		time.Sleep(61 * time.Second)
		check(200, "a minute later")
		s.set(errors.New("no route"), nil)
		check(503, "away")
		s.set(nil, func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true })
		check(503, "broken")
		if _, err := v.Verify(t.Context(), "x"); status(t, err) != 401 {
			t.Errorf("what is no token is asked about: %v", err)
		}
	})
}

func TestRequireAnswersAsTheGatewayDoes(t *testing.T) {
	s := newService(t)
	v := s.verifier()
	hello := v.Require("openid", "email")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, ok := remote.CallerFrom(r.Context())
		fmt.Fprint(w, caller.UserID, ok)
	}))
	good := forgery.Genuine(t, s.forged("openid profile email"))
	for _, c := range []struct {
		name, authorization, challenge string
		status                         int
	}{
		{"a good token", "Bearer " + good, "", 200},
		{"no token", "", "Bearer", 401},
		{"another scheme", "Basic YTpi", "Bearer", 401},
		{"a bad token", "Bearer " + good + "x", `Bearer error="invalid_token"`, 401},
		{"no bearer token at all", "Bearer a b", `Bearer error="invalid_token"`, 401},
		{"too little scope", "Bearer " + forgery.Genuine(t, s.forged("openid profile")), `Bearer error="insufficient_scope", scope="openid email"`, 403},
	} {
		w, body := serve(hello, c.authorization)
		if w.StatusCode != c.status || w.Header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, w.StatusCode, w.Header.Get("WWW-Authenticate"), c.status, c.challenge)
		}
		var result struct {
			Code, Errcode int
			Msg           string
		}
		if err := json.Unmarshal([]byte(body), &result); c.status != 200 &&
			(err != nil || result.Code != c.status || result.Errcode != c.status || result.Msg == "") {
			t.Errorf("%s: %s, %v", c.name, body, err)
		}
		if c.status == 200 && body != "u1true" {
			t.Errorf("%s: %s", c.name, body)
		}
	}
	s.set(errors.New("no route"), nil)
	if w, _ := serve(s.verifier().Require()(hello), "Bearer "+good); w.StatusCode != 503 ||
		w.Header.Get("Retry-After") != "1" {
		t.Errorf("without keys: %d %v", w.StatusCode, w.Header)
	}
	if _, ok := remote.CallerFrom(t.Context()); ok {
		t.Error("there is a caller where nobody has called")
	}
}

func TestNewReportsEveryMistakeInTheConfig(t *testing.T) {
	_, err := remote.New(t.Context(), remote.Config{
		BaseURL: "http://id.example.com", Audiences: []string{"https://a.example"}, CheckEvery: time.Minute, Pause: -1,
		Timeout: -1, StaleAfter: time.Minute,
	})
	for _, want := range []string{"BaseURL is not https", "AllowPlainHTTP",
		"CheckEvery is for tokens of the service itself", "Pause is negative", "Timeout is negative",
		"StaleAfter is not shorter"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want %q", err, want)
		}
	}
	for base, ok := range map[string]bool{"": false, "id.example.com": false, "https://id.example.com/": false,
		"https://id.example.com": true, "http://localhost:8080": true, "http://127.0.0.1:1": true, "http://[::1]": true,
		"http://10.0.0.1": false} {
		if _, err := remote.New(t.Context(), remote.Config{BaseURL: base}); (err == nil) != ok {
			t.Errorf("BaseURL %q: %v", base, err)
		}
	}
	if _, err := remote.New(t.Context(), remote.Config{BaseURL: "http://10.0.0.1", AllowPlainHTTP: true}); err != nil {
		t.Error(err)
	}
}

// With the client that New makes, over a network.
func TestVerifierWorksAcrossProcesses(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String()
	s := newServiceAt(t, base)
	server.Config.Handler = s.handler
	server.Start()
	defer server.Close()
	v := must(remote.New(t.Context(), remote.Config{BaseURL: base, CheckEvery: time.Minute, Log: quiet}))(t)
	reports := httptest.NewServer(v.Require("app")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := remote.CallerFrom(r.Context())
		io.WriteString(w, caller.AppID)
	})))
	defer reports.Close()
	for authorization, want := range map[string]string{"Bearer " + s.bearer(): s.app.ID, "": "an access token is needed"} {
		r := must(http.NewRequestWithContext(t.Context(), "GET", reports.URL, nil))(t)
		r.Header.Set("Authorization", authorization)
		resp := must(http.DefaultClient.Do(r))(t)
		body := must(io.ReadAll(resp.Body))(t)
		resp.Body.Close()
		if !strings.Contains(string(body), want) {
			t.Errorf("%d %s, want %s", resp.StatusCode, body, want)
		}
	}
}

func TestFetchOutcomeGoesToAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		v, bearer := s.verifier(func(c *remote.Config) { c.Pause = time.Second }), s.bearer()
		s.set(nil, func(http.ResponseWriter, *http.Request) bool { time.Sleep(4 * time.Second); return false })
		first, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { v.Verify(first, bearer) })
		synctest.Wait()
		for range 20 {
			all.Go(func() {
				_, err := v.Verify(t.Context(), bearer)
				wantStatus(t, err, 200, "who waits")
			})
		}
		time.Sleep(time.Second)
		leave() // who began it goes away
		impatient, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		_, err := v.Verify(impatient, bearer)
		wantStatus(t, err, 503, "who does not wait long enough")
		all.Wait()
		if n := s.times("/oauth/jwks"); n != 1 {
			t.Errorf("the keys were fetched %d times, want once for all", n)
		}
	})
}

// An API key is no JWT: nothing is fetched for it, and the error says whom to ask.
func TestAPIKeyIsRefusedWithTheWayToVerifyIt(t *testing.T) {
	s := newService(t)
	v := s.verifier()
	_, err := v.Verify(t.Context(), handle.NewAPIKey())
	wantStatus(t, err, 401, "an API key")
	if !strings.Contains(err.Error(), "/oauth/introspect") || s.times("/oauth/jwks") != 0 {
		t.Errorf("%v; the keys were fetched %d times", err, s.times("/oauth/jwks"))
	}
}
