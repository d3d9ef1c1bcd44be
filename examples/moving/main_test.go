package main

import (
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
func TestTheApplicationKeepsItsUserIDs(t *testing.T) {
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

func TestAWrongKeySignsNobodyIn(t *testing.T) {
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

func TestThePlainKeyIsRefusedOfAnApplicationThatSigns(t *testing.T) {
	origin, _ := serving(t, func(origin, back string) way { return oldWay{origin, appid, appkey, back} })
	page, _, err := newBrowser().do(t.Context(), http.MethodGet, origin+"/connect.php?"+url.Values{
		"act": {"login"}, "type": {"self"}, "appid": {appid}, "appkey": {appkey}, "redirect_uri": {"http://127.0.0.1/back"},
	}.Encode(), nil)
	if err != nil || !strings.Contains(page, `"errcode":103`) {
		t.Errorf("%s %v, want 103", page, err)
	}
}

func TestABrowserThatBeganNothingIsNotSignedIn(t *testing.T) {
	_, shopAt := serving(t, func(origin, back string) way { return newWay{origin, appid, appkey, back} })
	for _, state := range []string{"", "drawn by somebody else"} {
		if page, err := newBrowser().open(t.Context(), shopAt+"/back?code=x&state="+url.QueryEscape(state)); err == nil || !strings.Contains(err.Error(), errOther.Error()) {
			t.Errorf("%s %v", page, err)
		}
	}
}

func TestAnIDTokenOfAnotherSignInIsRefused(t *testing.T) {
	n := newWay{"https://id.example.com", appid, appkey, ""}
	part := base64.RawURLEncoding.EncodeToString
	unsigned := part([]byte(`{"alg":"none"}`)) + "." + part([]byte(`{"iss":"https://id.example.com","aud":"1000","nonce":"n","exp":9999999999}`)) + "."
	for _, token := range []string{"", "a.b.c", unsigned, unsigned + "c2ln"} {
		if n.verify(token, "n") == nil {
			t.Errorf("%q is taken", token)
		}
	}
}
