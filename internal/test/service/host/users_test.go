package host

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// directory is a table of users of the host's own: each signs in with their username as the password.
type directory struct {
	mu    sync.Mutex
	users []storage.User
}

func newDirectory() *directory {
	return &directory{users: []storage.User{
		{Sub: "staff-1", ID: 1, Username: "ada", Role: storage.RoleAdmin},
		{Sub: "staff-2", ID: 2, Username: "otto", Role: storage.RoleAuditor},
		{Sub: "staff-3", ID: 3, Username: "dora", Role: storage.RoleDeveloper},
		{Sub: "staff-4", ID: 4, Username: "carl"},
	}}
}

func (d *directory) find(is func(storage.User) bool) (storage.User, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.users, is); i >= 0 {
		return d.users[i], nil
	}
	return storage.User{}, storage.ErrNotFound
}

func (d *directory) User(_ context.Context, sub string) (storage.User, error) {
	return d.find(func(u storage.User) bool { return u.Sub == sub })
}

func (d *directory) Authenticate(_ context.Context, username, password string) (storage.User, error) {
	return d.find(func(u storage.User) bool { return u.Username == username && password == username })
}

func (d *directory) disable(sub string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.users {
		d.users[i].Disabled = d.users[i].Disabled || d.users[i].Sub == sub
	}
}

// staffed is a service with the users of a directory.
type staffed struct {
	*testing.T
	*keystile.Service
	said *book
}

func newStaffed(t *testing.T, of users.Host) staffed {
	c, said := newConfig()
	c.Users = of
	return staffed{t, start(t, c), said}
}

// signIn returns the cookies of a user.
func (s staffed) signIn(username string) string {
	s.Helper()
	form := url.Values{"username": {username}, "password": {username}}.Encode()
	w := ask(s, "POST", "/oauth/signin", form, "Origin", base)
	if w.Code != 303 {
		s.Fatalf("the sign-in of %s is answered %d", username, w.Code)
	}
	var cookies []string
	for _, c := range w.Result().Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	return strings.Join(cookies, "; ")
}

// page reads a page of the console.
func (s staffed) page(cookie, path string) *httptest.ResponseRecorder {
	return ask(s, "GET", path, "", "Accept", "text/html", "Cookie", cookie)
}

// send sends JSON to an endpoint of the console.
func (s staffed) send(method, path, cookie string, body any) *httptest.ResponseRecorder {
	s.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	r := httptest.NewRequest(method, base+path, strings.NewReader(string(text)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", base)
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestConsoleOfAHostWithUsersOfItsOwnHasAllButThose(t *testing.T) {
	s := newStaffed(t, users.Host{Users: newDirectory()})
	if !strings.Contains(s.said.String(), "left_out=\"the console has no pages of users") {
		t.Errorf("the log does not say what is left out:\n%s", s.said)
	}
	administrator := s.signIn("ada")
	shown := s.page(administrator, "/console/")
	seen := 0
	for _, link := range regexp.MustCompile(`href="(/console/[a-z/]*)"`).FindAllStringSubmatch(shown.Body.String(), -1) {
		if w := s.page(administrator, link[1]); w.Code != 200 {
			t.Errorf("%s, which the first page leads to, is answered %d", link[1], w.Code)
		}
		if strings.Contains(link[1], "user") {
			t.Errorf("the first page leads to %s", link[1])
		}
		seen++
	}
	if shown.Code != 200 || seen < 10 {
		t.Fatalf("the first page is answered %d and leads to %d pages", shown.Code, seen)
	}
	for _, path := range []string{"/console/users", "/console/users/staff-4", "/console/users/staff-4/grants"} {
		if w := s.page(administrator, path); w.Code != 404 || !strings.Contains(w.Body.String(), "not kept here") {
			t.Errorf("%s is answered %d\n%s", path, w.Code, w.Body)
		}
	}
	if w := s.send("POST", "/api/console/users", administrator, map[string]string{}); w.Code != 405 {
		t.Errorf("to make a user is answered %d %s", w.Code, w.Body)
	}
}

func TestConsoleOfAHostWithUsersOfItsOwnKnowsTheirRoles(t *testing.T) {
	d := newDirectory()
	s := newStaffed(t, users.Host{Users: d})
	cookies := map[string]string{"nobody": ""}
	for _, name := range []string{"ada", "otto", "dora", "carl"} {
		cookies[name] = s.signIn(name)
	}
	for path, may := range map[string]map[string]int{
		"/api/console/nodes": {"ada": 200, "otto": 200, "dora": 403, "carl": 403, "nobody": 401},
		"/api/console/audit": {"ada": 200, "otto": 200, "dora": 200, "carl": 200, "nobody": 401},
		"/api/console/usage": {"ada": 200, "otto": 200, "dora": 400, "carl": 400, "nobody": 401}, // of which application?
		"/api/console/apps":  {"ada": 200, "otto": 200, "dora": 200, "carl": 200, "nobody": 401},
		"/api/console/users": {"ada": 404, "otto": 404, "dora": 403, "carl": 403, "nobody": 401},
	} {
		for name, want := range may {
			if w := ask(s, "GET", path, "", "Cookie", cookies[name]); w.Code != want {
				t.Errorf("%s at %s is answered %d %s, want %d", name, path, w.Code, w.Body, want)
			}
		}
	}
	for name, want := range map[string]int{"ada": 200, "otto": 403, "dora": 200, "carl": 200, "nobody": 401} {
		app := map[string]any{"name": "of " + name, "domains": []string{"app.example.com"}}
		if w := s.send("POST", "/api/console/apps", cookies[name], app); w.Code != want {
			t.Errorf("%s makes an application and is answered %d %s, want %d", name, w.Code, w.Body, want)
		}
	}
	d.disable("staff-1")
	if w := ask(s, "GET", "/api/console/audit", "", "Cookie", cookies["ada"]); w.Code != 401 {
		t.Errorf("an administrator whom the host has disabled is answered %d", w.Code)
	}
}

func TestUsersOfAHostOwnApplicationsAndAreNamedInRules(t *testing.T) {
	s := newStaffed(t, users.Host{Users: newDirectory()})
	administrator := s.signIn("ada")
	app := map[string]any{"name": "Shop", "domains": []string{"app.example.com"}, "owner": "staff-4"}
	w := s.send("POST", "/api/console/apps", administrator, app)
	if w.Code != 200 {
		t.Fatalf("an application of a user of the host's is answered %d %s", w.Code, w.Body)
	}
	theirs := ask(s, "GET", "/api/console/apps", "", "Cookie", s.signIn("carl"))
	if !strings.Contains(theirs.Body.String(), "Shop") {
		t.Errorf("its owner sees %s", theirs.Body)
	}
	app["owner"] = "staff-9"
	if w := s.send("POST", "/api/console/apps", administrator, app); w.Code != 400 {
		t.Errorf("an application of nobody is answered %d %s", w.Code, w.Body)
	}
	pets := map[string]any{"member": "pets", "label": "Pets", "upstream_url": "https://pets.example.com",
		"openapi": map[string]any{"openapi": "3.0.0", "info": map[string]any{"title": "Pets", "version": "1"},
			"paths": map[string]any{"/pets": map[string]any{"get": map[string]any{"operationId": "listPets"}}}}}
	if w := s.send("POST", "/api/console/capabilities/register", administrator, pets); w.Code != 200 {
		t.Fatalf("the capability is answered %d %s", w.Code, w.Body)
	}
	for subject, want := range map[string]int{"user:staff-4": 200, "user:staff-9": 400} {
		rule := map[string]any{"subject": subject}
		if w := s.send("POST", "/api/console/access/pets", administrator, rule); w.Code != want {
			t.Errorf("a rule about %s is answered %d %s, want %d", subject, w.Code, w.Body, want)
		}
	}
	tools := ask(s, "GET", "/api/console/capabilities/pets", "", "Cookie", administrator)
	if w := s.page(administrator, "/console/capabilities/pets"); w.Code != 200 ||
		!strings.Contains(tools.Body.String(), "listPets") {
		t.Errorf("the tools are not shown: %d, %s", w.Code, tools.Body)
	}
}

func TestTokenOfAHostsUserManagesTheirApplications(t *testing.T) {
	d := newDirectory()
	s := newStaffed(t, users.Host{Users: d})
	const back = base + "/callback"
	secret := storage.DrawSecret()
	app, err := s.Store.SaveApp(t.Context(), storage.App{Name: "Shop", FirstParty: true, Domains: []string{"127.0.0.1"},
		Secrets: []storage.AppSecret{{Secret: secret}}, Owner: "staff-4"})
	if err != nil {
		t.Fatal(err)
	}
	query := url.Values{"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {back},
		"scope": {"openid apps"}}.Encode()
	cookie := s.signIn("carl")
	asked := ask(s, "GET", "/oauth/authorize?"+query, "", "Cookie", cookie)
	answer := url.Values{"allow": {"1"}}
	for _, in := range regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(
		asked.Body.String(), -1) {
		answer.Set(in[1], html.UnescapeString(in[2]))
	}
	w := ask(s, "POST", "/oauth/signin/consent", answer.Encode(), "Cookie", cookie, "Origin", base)
	w = ask(s, "GET", strings.TrimPrefix(w.Header().Get("Location"), base), "", "Cookie", cookie)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		t.Fatalf("authorize is answered %d %s", w.Code, w.Header().Get("Location"))
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "redirect_uri": {back},
		"client_id": {app.ID}, "client_secret": {secret.Reveal()}}.Encode()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	json.Unmarshal(ask(s, "POST", "/oauth/token", form).Body.Bytes(), &token)
	list := func() *httptest.ResponseRecorder {
		return ask(s, "GET", "/api/v1/apps", "", "Authorization", "Bearer "+token.AccessToken)
	}
	if w := list(); w.Code != 200 || !strings.Contains(w.Body.String(), app.ID) {
		t.Errorf("it is answered %d %s", w.Code, w.Body)
	}
	d.disable("staff-4")
	if w := list(); w.Code == 200 {
		t.Errorf("of a user whom the host has disabled it is answered %d %s", w.Code, w.Body)
	}
}

func TestConsoleThatMakesNoUsersAdministersThoseOfTheStore(t *testing.T) {
	c, said := newConfig()
	store, err := storage.Open(t.Context(), c.Backend, c.MasterKey)
	if err != nil {
		t.Fatal(err)
	}
	table := users.New(store, c.SignIn.Passwords)
	var first storage.User
	for _, u := range []storage.User{{Username: "ada", Role: storage.RoleAdmin}, {Username: "carl"}} {
		if first, err = table.Create(t.Context(), u, "correct horse battery"); err != nil {
			t.Fatal(err)
		}
	}
	c.Store, c.Backend, c.Users = store, nil, table.Host()
	c.Users.Creator, c.Users.Passwords = nil, nil
	s := staffed{t, start(t, c), said}
	form := url.Values{"username": {"ada"}, "password": {"correct horse battery"}}.Encode()
	in := ask(s, "POST", "/oauth/signin", form, "Origin", base)
	var cookies []string
	for _, c := range in.Result().Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	administrator := strings.Join(cookies, "; ")
	if !strings.Contains(said.String(), "left_out=\"the console makes no users") {
		t.Errorf("the log does not say what is left out:\n%s", said)
	}
	for path, without := range map[string]string{
		"/console/users": "", "/console/users/new": "Make the user", "/console/users/" + first.Sub: "Give a new password",
		"/console/users/" + first.Sub + "/sessions": "",
	} {
		w := s.page(administrator, path)
		if w.Code != 200 || without != "" && strings.Contains(w.Body.String(), without) {
			t.Errorf("%s is answered %d, and has %q: %t", path, w.Code, without, strings.Contains(w.Body.String(), without))
		}
	}
	for path, body := range map[string]any{
		"/api/console/users":                            map[string]string{"username": "new", "password": "correct horse"},
		"/api/console/users/" + first.Sub + "/password": map[string]string{},
	} {
		if w := s.send(http.MethodPost, path, administrator, body); w.Code != 404 {
			t.Errorf("%s is answered %d %s", path, w.Code, w.Body)
		}
	}
	off := s.send(http.MethodPatch, "/api/console/users/"+first.Sub, administrator, map[string]bool{"disabled": true})
	if u, err := store.User(t.Context(), first.Sub); off.Code != 200 || err != nil || !u.Disabled {
		t.Errorf("to disable a user is answered %d %s; %v", off.Code, off.Body, err)
	}
}
