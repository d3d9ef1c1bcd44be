package command

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// asked sends JSON with a header and returns the status and the answer.
func asked(t *testing.T, s *service, method, path, name, value, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(name, value)
	resp, text := do(t, http.DefaultClient, req)
	return resp.StatusCode, text
}

// Decision 52: the demo's secret is printed at the first start, and secrets of
// others are on their servers. None of them opens more than its own application.
func TestSecretOfOneApplicationOpensNoOther(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	demo := firstRunOf(t, s.data).App
	one := must(t, "app", "create", "--data", s.data, "--name", "One", "--domain", "one.example")
	two := must(t, "app", "create", "--data", s.data, "--name", "Two", "--domain", "two.example", "--first-party",
		"--owner", firstRunOf(t, s.data).Admin.Username)
	target := two["client_id"].(string)
	for _, app := range [][2]string{{demo.ClientID, demo.ClientSecret},
		{one["client_id"].(string), one["client_secret"].(string)}} {
		bearer := "Bearer " + machineToken(t, s, app[0], app[1])
		if status, all := asked(t, s, "GET", "/api/v1/apps", "Authorization", bearer, ""); status != 200 || strings.Count(all, `"client_id"`) != 1 || !strings.Contains(all, app[0]) {
			t.Errorf("%s lists %d %s", app[0], status, all)
		}
		for _, act := range [][3]string{{"PATCH", "", `{"domains":["evil.example.net"]}`}, {"POST", "/secret", `{}`}, {"DELETE", "", ""}, {"GET", "", ""}} {
			if status, text := asked(t, s, act[0], "/api/v1/apps/"+target+act[1], "Authorization", bearer,
				act[2]); status != 404 {
				t.Errorf("%s: %s%s of another application = %d %s", app[0], act[0], act[1], status, text)
			}
		}
	}
	if v := must(t, "app", "show", target, "--data", s.data); !strings.Contains(mustText(t, v["domains"]),
		"two.example") || strings.Contains(mustText(t, v["domains"]), "evil") {
		t.Errorf("the other application is %v", v)
	}
}

func mustText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Decision 52: what an administrator's sign-in to an application gives that
// application is no administrator's key.
func TestAdministratorsTokenForAnApplicationManagesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	bearer := "Bearer " + redeem(t, s, authorize(t, s), 200).AccessToken
	demo := firstRunOf(t, s.data).App.ClientID
	for _, act := range [][3]string{
		{"GET", "", ""}, {"POST", "", `{"name":"Evil","domains":["evil.example.net"]}`}, {"PATCH", "/" + demo, `{"domains":["evil.example.net"]}`},
		{"POST", "/" + demo + "/secret", `{}`}, {"DELETE", "/" + demo, ""},
	} {
		if status, text := asked(t, s, act[0], "/api/v1/apps"+act[1], "Authorization", bearer, act[2]); status != 403 ||
			!strings.Contains(text, "scope apps") {
			t.Errorf("%s %s = %d %s", act[0], act[1], status, text)
		}
	}
}

// Decision 21.
func TestApplicationOfTheCommandLineAsksForConsentUnlessItIsFirstParty(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	cookie := cookieOf(t, s)
	for _, firstParty := range []bool{false, true} {
		words := []string{"app", "create", "--data", s.data, "--name", "Shop", "--domain", "shop.example"}
		if firstParty {
			words = append(words, "--first-party")
		}
		query := url.Values{
			"response_type": {"code"}, "client_id": {must(t, words...)["client_id"].(string)},
			"redirect_uri": {"https://shop.example/cb"},
			"scope":        {"openid"}, "code_challenge": {strings.Repeat("verifier-", 6)}, "code_challenge_method": {"plain"},
		}
		resp, text := stay(t, s, "/oauth/authorize?"+query.Encode(), cookie)
		if got := strings.HasPrefix(resp.Header.Get("Location"), "https://shop.example/cb?"); got != firstParty {
			t.Errorf("first-party %t: %d to %q %.200s", firstParty, resp.StatusCode, resp.Header.Get("Location"), text)
		}
	}
}

// Decisions 18 and 52: what an administrator may do, they do by their cookie.
func TestConsoleIsServedBesideTheRegistrar(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	cookie, demo := cookieOf(t, s).String(), firstRunOf(t, s.data).App
	status, all := asked(t, s, "GET", "/api/console/apps", "Cookie", cookie, "")
	if status != 200 || !strings.Contains(all, demo.ClientID) || !strings.Contains(all, `"owner":""`) || !strings.Contains(all, `"first_party":true`) {
		t.Errorf("the console lists %d %s", status, all)
	}
	if status, text := asked(t, s, "POST", "/api/console/apps/"+demo.ClientID+"/secret", "Cookie", cookie, `{"overlap_seconds":0}`); status != 200 {
		t.Errorf("a new secret = %d %s", status, text)
	}
	status, text := asked(t, s, "POST", "/api/console/users", "Cookie", cookie, `{"username":"ada","password":"correct horse battery","role":"developer"}`)
	if status != 200 {
		t.Errorf("a new user = %d %s", status, text)
	}
	for path, want := range map[string]int{"/api/console/orders": 200, "/api/console/users": 200,
		"/api/console/capabilities": 200, "/api/console/nothing": 404} {
		if status, text := asked(t, s, "GET", path, "Cookie", cookie, ""); status != want {
			t.Errorf("%s = %d %s", path, status, text)
		}
		if status, _ := asked(t, s, "GET", path, "Authorization", "Bearer "+strings.Repeat("x", 40), ""); status == 200 {
			t.Errorf("%s is opened by a bearer", path)
		}
	}
	if rows := must(t, "user", "set", "ada", "--nickname", "Ada", "--data", s.data); rows["role"] != "developer" {
		t.Errorf("the command shows %v", rows)
	}
	s.stop()
	_, trail, _ := command(t, "", "audit", "export", "--data", s.data)
	for _, want := range []string{"app rotate-secret " + demo.ClientID + " by u", "user create u", "secret sha256:"} {
		if !strings.Contains(trail, want) {
			t.Errorf("%q is not on the trail", want)
		}
	}
}
