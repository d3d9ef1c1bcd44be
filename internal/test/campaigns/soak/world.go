package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// origin names the service.
const origin = serving.Issuer

// member is the capability that the bus lists.
const member = "soak"

// world holds what all people share.
type world struct {
	site     *site
	meter    *meter
	web      *http.Client
	app      application // that people sign in to
	caller   application // that makes charged calls
	terminal application // of devices: it has no secret
	rotated  atomic.Pointer[application]
	admin    atomic.Pointer[string] // the cookie of an administrator
	bills    map[string]*bill       // by product
	keys     sync.Map               // the ids of published keys
	mailed   struct {
		sync.Mutex
		count int
		asked []asked
	}
}

// asked is a mail that was promised.
type asked struct {
	to string
	at time.Time
}

// bill counts charged calls of a product.
type bill struct{ sent, answered atomic.Int64 }

// application is one with its secret.
type application serving.App

// form is a request of the application: name, value, name, value.
func (a application) form(pairs ...string) url.Values {
	v := url.Values{"client_id": {a.ID}, "client_secret": {a.Secret}}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// hidden finds the hidden fields of a form.
var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

func hiddenFields(page []byte) url.Values {
	v := url.Values{}
	for _, m := range hidden.FindAllSubmatch(page, -1) {
		v.Set(string(m[1]), html.UnescapeString(string(m[2])))
	}
	return v
}

// newWorld makes the service one that everybody here can use.
func newWorld(s *site) (*world, error) {
	w := &world{site: s, meter: newMeter(), bills: map[string]*bill{"svc": {}, "left": {}, "ai": {}}}
	w.web = &http.Client{
		Transport: s.balancer, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	n := s.nodes[0]
	first, err := serving.ReadFirstRun(n.data)
	if err != nil {
		return nil, err
	}
	w.app = application(first.App)
	create := func(into *application, name string, more ...string) error {
		return n.run(into, "app create", append([]string{"name", name, "domain", "localhost", "tier", "enterprise"}, more...))
	}
	var rotated application
	err = errors.Join(
		n.run(nil, "app set", []string{"tier", "enterprise"}, w.app.ID),
		n.run(nil, "setting set", nil, storage.SettingDefaultAccess, storage.AccessEveryone),
		create(&w.caller, "Caller"), create(&rotated, "Rotated"), create(&w.terminal, "Terminal", "public", "true"),
	)
	w.rotated.Store(&rotated)
	if err == nil {
		err = w.enter(first.Admin.Username, first.Admin.Password)
	}
	if err == nil {
		err = w.register()
	}
	return w, err
}

// enter signs the administrator in, for reading.
func (w *world) enter(name, password string) error {
	a := w.person(0).post("/oauth/signin", url.Values{"username": {name}, "password": {password}})
	cookie := a.cookie(sessionCookie)
	if cookie == "" {
		return fmt.Errorf("the administrator cannot sign in: %v", a)
	}
	w.admin.Store(&cookie)
	return nil
}

// register registers a tool whose upstream is here.
func (w *world) register() error {
	a := w.person(0).send(http.MethodPost, "/api/console/capabilities/register",
		fmt.Sprintf(`{"member":%q,"upstream_url":"http://%s","tools_static":[{"name":"thing","httpMethod":"get","path":"/thing"}]}`, member, w.site.upstream.address),
		"Cookie", *w.admin.Load(), "Content-Type", "application/json")
	if a.err != nil || a.status != http.StatusOK {
		return fmt.Errorf("a tool cannot be registered: %v", a)
	}
	return nil
}

// person is a person who is not a user yet.
func (w *world) person(id int) *person {
	return &person{world: w, id: id, name: fmt.Sprintf("person-%d", id),
		rand: rand.New(rand.NewPCG(w.site.seed, uint64(id)))}
}

// people makes the users, signs them in, and has each allow the application what it asks for.
func (w *world) people(ctx context.Context, n int) ([]*person, error) {
	var all []*person
	for i := 1; i <= n && ctx.Err() == nil; i++ {
		p := w.person(i)
		var made struct{ Sub string }
		if err := w.site.nodes[0].run(&made, "user create", []string{"username", p.name, "password", password}); err != nil {
			return nil, err
		}
		for range 3 {
			if p.signIn(); p.cookie != "" {
				break
			}
			time.Sleep(time.Second)
		}
		if p.code(); p.access == "" || p.openid == "" {
			return nil, fmt.Errorf("%s gets no tokens: %v", p.name, w.meter.problems)
		}
		all = append(all, p)
	}
	return all, ctx.Err()
}
