package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/memory"
)

// The application written for connect.php signs somebody in unchanged; moved, it knows them again.
func TestApplicationKeepsItsUserIDs(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^(.+): Ada is ([0-9A-F]{32}), order (\d)$`).FindAllStringSubmatch(out.String(), -1)
	if len(said) != 2 || said[0][1] != "connect.php" || said[1][1] != "OpenID Connect" {
		t.Fatalf("it says\n%s", &out)
	}
	if said[0][2] != said[1][2] || said[1][3] != "2" {
		t.Errorf("somebody else came back:\n%s", &out)
	}
	if row := regexp.MustCompile(`(?m)^1000 +\S+ +0 +2 +0 +0$`); !row.MatchString(out.String()) {
		t.Errorf("the report does not have two signed calls, no plain key and no code without PKCE:\n%s", &out)
	}
}

// serving starts Keystile and the application, and returns both addresses.
func serving(t *testing.T, w func(origin, back string) way) (origin, shopAt string) {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	var at [2]net.Listener
	for i := range at {
		var err error
		if at[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	origin, shopAt = "http://"+at[0].Addr().String(), "http://"+at[1].Addr().String()
	s, err := newHost(t.Context(), origin, backend, appid, appkey)
	if err != nil {
		t.Fatal(err)
	}
	servers := []*http.Server{serve(at[0], s), serve(at[1], newShop(w(origin, shopAt+"/back")))}
	t.Cleanup(func() {
		for _, server := range servers {
			server.Close()
		}
		s.Close(t.Context())
	})
	return origin, shopAt
}

func TestKeyThatIsWrongSignsNobodyIn(t *testing.T) {
	for name, w := range map[string]func(origin, back string) way{
		"signed":  func(origin, back string) way { return oldWay{origin, appid, "another key", back} },
		"no code": func(origin, back string) way { return newWay{origin, appid, "another key", back} },
	} {
		t.Run(name, func(t *testing.T) {
			_, shopAt := serving(t, w)
			if page, err := newBrowser().open(t.Context(), shopAt+"/login"); err == nil || strings.Contains(page, "Ada is") {
				t.Errorf("signed in with another key: %s %v", page, err)
			}
		})
	}
}

func TestPlainKeyIsRefusedOfAnApplicationThatSigns(t *testing.T) {
	origin, _ := serving(t, func(origin, back string) way { return oldWay{origin, appid, appkey, back} })
	page, _, err := newBrowser().do(t.Context(), http.MethodGet, origin+"/connect.php?"+url.Values{
		"act": {"login"}, "type": {"self"}, "appid": {appid}, "appkey": {appkey}, "redirect_uri": {"http://127.0.0.1/back"},
	}.Encode(), nil)
	if err != nil || !strings.Contains(page, `"errcode":103`) {
		t.Errorf("%s %v, want 103", page, err)
	}
}

func TestBrowserComesBackToTheSignInThatItBegan(t *testing.T) {
	_, shopAt := serving(t, func(origin, back string) way { return newWay{origin, appid, appkey, back} })
	stranger, begun := newBrowser(), newBrowser()
	begun.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := begun.Get(shopAt + "/login")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil || to.Query().Get("state") == "" {
		t.Fatal(to, err)
	}
	for name, b := range map[string]*browser{"one that began nothing": stranger, "one that began another": begun} {
		state := to.Query().Get("state")
		if b == begun {
			state = "drawn by somebody else"
		}
		if _, err := b.open(t.Context(), shopAt+"/back?code=x&state="+url.QueryEscape(state)); err == nil ||
			!strings.Contains(err.Error(), errOther.Error()) {
			t.Errorf("%s: %v, want %v", name, err, errOther)
		}
	}
}

func TestIDTokenOfAnotherSignInIsRefused(t *testing.T) {
	n := newWay{"https://id.example.com", appid, appkey, ""}
	signed := func(key, claims string) string {
		part := base64.RawURLEncoding.EncodeToString
		text := part([]byte(`{"alg":"HS256"}`)) + "." + part([]byte(claims))
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(text))
		return text + "." + part(mac.Sum(nil))
	}
	const right = `{"iss":"https://id.example.com","aud":"1000","nonce":"n","exp":9999999999}`
	if err := n.verify(signed(appkey, right), "n"); err != nil {
		t.Fatalf("the right one: %v", err)
	}
	for name, token := range map[string]string{
		"none":     "",
		"no token": "a.b.c",
		"unsigned": strings.TrimRight(signed(appkey, right),
			"-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
		"another key":   signed("x", right),
		"issuer":        signed(appkey, strings.Replace(right, "id.", "other.", 1)),
		"audience":      signed(appkey, strings.Replace(right, "1000", "1001", 1)),
		"another visit": signed(appkey, strings.Replace(right, `"n"`, `"m"`, 1)),
		"over":          signed(appkey, strings.Replace(right, "9999999999", "1", 1)),
	} {
		if n.verify(token, "n") == nil {
			t.Errorf("%s is taken: %q", name, token)
		}
	}
}
