package command

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// The rules of the sign-in page hold on the short way too.
func TestShortWayToAProviderSkipsNoRule(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--fake-providers", "--connectors-qq-signup", "closed")
	asks := startOldClient(t, s, "0", "--legacy")
	browser := newBrowser(t)
	page, _ := asks.signIn(t, browser, "wx")
	if page, text := asks.allow(t, browser, page, "lin"); page.Request.URL.Path != "/oauth/authorize" ||
		!strings.Contains(text, "Forum") {
		t.Errorf("an application that is not first-party gets a user without consent: %s %s", page.Request.URL, text)
	}

	stranger := newBrowser(t)
	page, _ = asks.signIn(t, stranger, "qq")
	page, text := asks.allow(t, stranger, page, "lin")
	if page.StatusCode != 401 || !strings.Contains(text, "You have no account here") {
		t.Errorf("a stranger by a closed way = %d %s", page.StatusCode, text)
	}

	strict := startOldClient(t, s, "0", "--legacy", "--first-party", "--mfa", "required")
	browser = newBrowser(t)
	page, _ = strict.signIn(t, browser, "wx")
	page, text = strict.allow(t, browser, page, "mei")
	if !strings.HasPrefix(page.Request.URL.Path, "/oauth/signin/factor") {
		t.Errorf("an application that requires two factors gets a user with one: %s %s", page.Request.URL, text)
	}

	first := startOldClient(t, s, "0", "--legacy", "--first-party")
	browser = newBrowser(t)
	page, _ = first.signIn(t, browser, "wx")
	_, text = first.allow(t, browser, page, "lin")
	uid := toldOf(t, text).Callback["social_uid"].(string)
	_, users, _ := command(t, "", "user", "list", "--data", s.data)
	for _, line := range regexp.MustCompile(`(?m)^(\S+) .*\bwx_`).FindAllStringSubmatch(users, -1) {
		must(t, "user", "disable", "--data", s.data, line[1])
	}
	other := newBrowser(t)
	page, _ = first.signIn(t, other, "wx")
	if page, text := first.allow(t, other, page, "lin"); page.StatusCode != 401 || strings.Contains(text, uid) {
		t.Errorf("a disabled user = %d %s", page.StatusCode, text)
	}
}

// A client that wants another code for a success says so, and one whose type is not offered says what is, and what to
// do.
func TestOldClientIsToldWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	o := startOldClient(t, s, "0", "--legacy")
	_, text := o.signIn(t, newBrowser(t), "qq")
	for _, want := range []string{"failed: ", "offered are self, email", "connectors.qq.id and connectors.qq.secret"} {
		if !strings.Contains(text, want) {
			t.Errorf("type=qq without a connector says %s, without %q", text, want)
		}
	}
	if _, text = o.signIn(t, newBrowser(t), "sina"); !strings.Contains(text, "no connector of the name sina") {
		t.Errorf("type=sina says %s", text)
	}
	plain := startOldClient(t, s, "0")
	if _, text := plain.signIn(t, newBrowser(t), "self"); text != "failed: succ" {
		t.Errorf("code 1 to a client that takes 0 for a success says %s", text)
	}
	if out := must(t, "app", "create", "--name", "Forum", "--domain", "forum.example.com", "--legacy", "--data",
		s.data); out["legacy_success_code"] != 0.0 {
		t.Errorf("app create --legacy prints %v", out)
	}
	wantFailure(t, 2, "the old endpoints want an appkey", "app", "create", "--name", "Forum", "--domain",
		"forum.example.com", "--legacy", "--public", "--data", s.data)
}

// A host that says nothing of the old endpoints has the types of its own sign-in page there.
func TestTypesOfAHostAreThoseOfItsSignInPage(t *testing.T) {
	t.Parallel()
	wx, err := connector.NewWX(connector.WX{ID: "wxd477edab60670232", Secret: storage.NewSecret("secret-of-wx")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := keystile.New(t.Context(), keystile.Config{
		BaseURL: "https://id.example.com", Backend: memory.New(), MasterKey: storage.NewMasterKey(),
		SignIn: signin.Config{Connectors: []connector.Connector{wx}}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	app, err := s.Store.SaveApp(t.Context(), storage.App{Name: "Forum", Domains: []string{"forum.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	open := func(at string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", at, nil))
		return w
	}
	ask := url.Values{"act": {"login"}, "appid": {app.ID}, "appkey": {app.AppKey().Reveal()}, "type": {"wx"},
		"redirect_uri": {"https://forum.example.com/back"}}
	var began struct{ URL string }
	if w := open("https://id.example.com/connect.php?" + ask.Encode()); json.Unmarshal(w.Body.Bytes(), &began) != nil ||
		began.URL == "" {
		t.Fatalf("act=login = %s", w.Body)
	}
	led := open(began.URL).Header().Get("Location")
	const atWX = "https://open.weixin.qq.com/connect/qrconnect?appid=wxd477edab60670232&"
	if to := open("https://id.example.com" + led).Header().Get("Location"); !strings.HasPrefix(to, atWX) {
		t.Errorf("the browser is led to %s, then to %s", led, to)
	}
	if ask.Set("type", "qq"); !strings.Contains(open("https://id.example.com/connect.php?"+ask.Encode()).Body.String(),
		"offered are self, wx.") {
		t.Error("type=qq is not refused with what is offered")
	}
}
