package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// record is the file of a first run.
type record struct {
	Admin struct{ Username, Password string }
	App   struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		Domains      []string
	}
}

func recordOf(t *testing.T, path string) (r record) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// counted returns how many users and applications there are.
func counted(t *testing.T, s *keystile.Service) (people, apps int) {
	t.Helper()
	some, _, err := s.Store.Users(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	registered, _, err := s.Store.Apps(t.Context(), "", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	return len(some), len(registered)
}

func TestFirstRunOfAHostEndsInSomethingThatCanBeUsed(t *testing.T) {
	c, said := newConfig()
	c.FirstRun = filepath.Join(t.TempDir(), "first-run.json")
	service := start(t, c)
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := gateway.CallerFrom(r.Context())
		fmt.Fprintf(w, "hello, %s", caller.AppID)
	})
	service.Handle("/hello", service.Gateway.Guard(gateway.ProductAI, hello))

	r := recordOf(t, c.FirstRun)
	if info, err := os.Stat(c.FirstRun); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if text := said.String(); !strings.Contains(text, "file="+c.FirstRun) ||
		!strings.Contains(text, "console=/console/") || strings.Contains(text, r.Admin.Password) ||
		strings.Contains(text, r.App.ClientSecret) {
		t.Errorf("the log says:\n%s", text)
	}

	form := url.Values{"username": {r.Admin.Username}, "password": {r.Admin.Password}}.Encode()
	in := ask(service, "POST", "/oauth/signin", form, "Origin", base)
	if in.Code != 303 {
		t.Fatalf("the administrator's sign-in is answered %d\n%s", in.Code, in.Body)
	}
	var cookies []string
	for _, cookie := range in.Result().Cookies() {
		cookies = append(cookies, cookie.Name+"="+cookie.Value)
	}
	page := ask(service, "GET", "/console/", "", "Cookie", strings.Join(cookies, "; "), "Accept", "text/html")
	if page.Code != 200 {
		t.Errorf("the console answers %d", page.Code)
	}

	form = url.Values{"grant_type": {"client_credentials"}, "client_id": {r.App.ClientID},
		"client_secret": {r.App.ClientSecret}}.Encode()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	json.Unmarshal(ask(service, "POST", "/oauth/token", form).Body.Bytes(), &token)
	w := ask(service, "GET", "/hello", "", "Authorization", "Bearer "+token.AccessToken)
	if w.Code != 200 || w.Body.String() != "hello, "+r.App.ClientID {
		t.Errorf("the application's call is answered %d %s", w.Code, w.Body)
	}
	app, err := service.Store.App(t.Context(), r.App.ClientID)
	if err != nil || app.FirstParty || app.Owner != "" || app.AllowsRedirect(base+"/callback") != nil ||
		app.AllowsRedirect("http://localhost/callback") == nil {
		t.Errorf("the application is %+v, %v", app, err)
	}
}

func TestFirstRunOfAHostIsOnce(t *testing.T) {
	c, said := newConfig()
	c.FirstRun = filepath.Join(t.TempDir(), "first-run.json")
	start(t, c)
	if err := os.Remove(c.FirstRun); err != nil {
		t.Fatal(err)
	}
	before := len(said.String())
	again := start(t, c)
	if people, apps := counted(t, again); people != 1 || apps != 1 {
		t.Errorf("there are %d users and %d applications", people, apps)
	}
	if _, err := os.Stat(c.FirstRun); err == nil || strings.Contains(said.String()[before:], "first run") {
		t.Errorf("it was made again; the log says:\n%s", said.String()[before:])
	}
}

func TestFirstRunThatNobodyAskedForMakesNothing(t *testing.T) {
	c, _ := newConfig()
	if people, apps := counted(t, start(t, c)); people != 0 || apps != 0 {
		t.Errorf("there are %d users and %d applications", people, apps)
	}
}

func TestFirstRunLeavesAStoreThatIsFilled(t *testing.T) {
	c, _ := newConfig()
	store, err := storage.Open(t.Context(), c.Backend, c.MasterKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := users.New(store, c.SignIn.Passwords).Create(t.Context(), storage.User{Username: "ada"},
		"correct horse battery"); err != nil {
		t.Fatal(err)
	}
	c.FirstRun = filepath.Join(t.TempDir(), "first-run.json")
	if people, apps := counted(t, start(t, c)); people != 1 || apps != 0 {
		t.Errorf("there are %d users and %d applications", people, apps)
	}
	if left, _ := os.ReadDir(filepath.Dir(c.FirstRun)); len(left) != 0 {
		t.Errorf("it has written %v", left)
	}
}

func TestFirstRunOfSeveralNodesAtOnceIsMadeByOne(t *testing.T) {
	const n = 5
	shared, _ := newConfig()
	var files [n]string
	var work sync.WaitGroup
	var all [n]*keystile.Service
	for i := range n {
		c, _ := newConfig()
		c.Backend, c.MasterKey = shared.Backend, shared.MasterKey
		files[i] = filepath.Join(t.TempDir(), "first-run.json")
		c.FirstRun = files[i]
		work.Go(func() {
			var err error
			if all[i], err = keystile.New(t.Context(), c); err != nil {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	work.Wait()
	written := 0
	for i, s := range all {
		if s == nil {
			continue
		}
		if people, apps := counted(t, s); people != 1 || apps != 1 {
			t.Errorf("node %d sees %d users and %d applications", i, people, apps)
		}
		if left, _ := os.ReadDir(filepath.Dir(files[i])); len(left) > 0 {
			written++
			r := recordOf(t, files[i])
			u, err := users.New(s.Store, shared.SignIn.Passwords).Authenticate(t.Context(), r.Admin.Username, r.Admin.Password)
			if err != nil || u.Role != storage.RoleAdmin {
				t.Errorf("the password of node %d opens nothing: %v", i, err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if written != 1 {
		t.Errorf("%d nodes have a file, want one", written)
	}
}
