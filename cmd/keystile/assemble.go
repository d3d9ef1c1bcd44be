package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/demo"
	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
)

// Front stands before every request: it gives it an id and writes it down.
type Front func(http.Handler) http.Handler

// assembled is what the program serves, and what it needs to know of it.
type assembled struct {
	http.Handler
	provider *oauth.Server
	gateway  *gateway.Gateway
}

// assemble is where the rooms meet: it makes them, hands each what it asks for, and puts
// a door with an address on it. Nothing else in the program knows two rooms. A nil observer
// is none. The caller closes the gateway.
func assemble(ctx context.Context, c *config.Config, base string, home *home, log *slog.Logger, observer requests.Observer) (*assembled, error) {
	client := clientip.New(c.TrustedProxies).Of
	watch := new(late) // sign-in and provider write on its trail, and it asks the provider
	signIn, err := signin.New(signin.Config{
		BaseURL: base, Store: home.store, Users: home.users, Log: log, ClientIP: client, Audit: watch,
		Lock:        signin.Lock{Failures: c.LockFailures, Within: c.LockWindow, For: c.LockDuration},
		SessionIdle: c.SessionIdle, SessionMax: c.SessionMax,
	})
	if err != nil {
		return nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{
		Issuer: base, Store: home.store, SignIn: signIn, Log: log, ClientIP: client, Audit: watch,
		CodeLifetime: c.CodeLifetime, AccessLifetime: c.AccessLifetime, RefreshLifetime: c.RefreshLifetime,
		CodeReuseLeeway: c.CodeReuseLeeway, RefreshReuseLeeway: c.RefreshReuseLeeway,
		IDTokenAlgs: c.IDTokenAlgs, SigningAlg: c.SigningAlg,
	})
	if err != nil {
		return nil, err
	}
	g, err := gateway.New(ctx, gateway.Config{
		Store: home.store, Verifier: provider, Log: log, ClientIP: client, Journal: home.Journal(),
		PerAddress: c.PerAddress, Products: c.Products, CORS: corsOf(c),
	})
	if err != nil {
		return nil, err
	}
	watch.Gateway = g
	doors, err := doorsOf(c, base, home, log, signIn, provider, g)
	if err != nil {
		return nil, errors.Join(err, g.Close(ctx))
	}
	var front Front = requests.Front(requests.Config{Log: log, Quiet: !c.LogRequests, ClientIP: client, Observer: observer})
	return &assembled{front(g.Front(doors)), provider, g}, nil
}

// late is the gateway for rooms that are made before it.
type late struct{ *gateway.Gateway }

func doorsOf(c *config.Config, base string, home *home, log *slog.Logger, signIn http.Handler, provider *oauth.Server, g *gateway.Gateway) (house, error) {
	userInfo := g.Meter(gateway.Identity, provider)
	var doors house
	if c.Demo {
		doors = append(doors, door{demo.Path, demo.New(demo.Config{BaseURL: base, Store: home.store, Provider: provider, Log: log})})
	}
	for product, target := range c.Proxy {
		prefix := "/" + product
		h, err := g.Proxy(gateway.Upstream{Product: product, URL: target, Strip: prefix, PerSecond: float64(c.UpstreamPace)})
		if err != nil {
			return nil, err
		}
		doors = append(doors, door{prefix, h})
	}
	return append(doors, house{
		{"/oauth/signin", signIn},
		{"/oauth/userinfo", userInfo},
		{"/oauth/userinfo.php", userInfo},
		{"/oauth", provider},
		{"/.well-known", provider},
		{"/api/v1", g},
		{"/", newLobby(c, base, home.store, log)},
	}...), nil
}

// corsOf opens the proxied services to every origin, as the gateway's own endpoints are.
func corsOf(c *config.Config) gateway.CORS {
	open := gateway.OpenPaths()
	for product := range c.Proxy {
		open = append(open, "/"+product+"/")
	}
	return gateway.CORS{Open: open, Origins: c.Origins}
}

// house is the one route table: the first door that fits a path is the room's. The last
// fits all. Rooms are given their paths whole and answer what they do not know.
type house []door

type door struct {
	path string
	room http.Handler
}

func (h house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, d := range h {
		if d.fits(r.URL.Path) {
			d.room.ServeHTTP(w, r)
			return
		}
	}
}

func (d door) fits(path string) bool {
	return d.path == "/" || path == d.path || strings.HasPrefix(path, d.path+"/")
}
