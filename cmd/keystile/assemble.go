package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/demo"
	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
)

// Front stands before every request: it gives it an id and writes it down. Who may come
// in, and how often, belongs here too.
type Front func(http.Handler) http.Handler

// assemble is where the rooms meet: it makes them, hands each what it asks for, and puts
// a door with an address on it. Nothing else in the program knows two rooms. It returns the
// provider too, for the admin commands. A nil observer is none.
func assemble(ctx context.Context, c *config.Config, base string, home *home, log *slog.Logger, observer requests.Observer) (http.Handler, *oauth.Server, error) {
	client := clientip.New(c.TrustedProxies).Of
	signIn, err := signin.New(signin.Config{
		BaseURL: base, Store: home.store, Users: home.users, Log: log, ClientIP: client,
		Lock:        signin.Lock{Failures: c.LockFailures, Within: c.LockWindow, For: c.LockDuration},
		SessionIdle: c.SessionIdle, SessionMax: c.SessionMax,
	})
	if err != nil {
		return nil, nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{
		Issuer: base, Store: home.store, SignIn: signIn, Log: log, ClientIP: client,
		CodeLifetime: c.CodeLifetime, AccessLifetime: c.AccessLifetime, RefreshLifetime: c.RefreshLifetime,
		CodeReuseLeeway: c.CodeReuseLeeway, RefreshReuseLeeway: c.RefreshReuseLeeway,
		IDTokenAlgs: c.IDTokenAlgs, SigningAlg: c.SigningAlg,
	})
	if err != nil {
		return nil, nil, err
	}
	doors := house{
		{"/oauth/signin", signIn},
		{"/oauth", provider},
		{"/.well-known", provider},
		{"/", newLobby(c, base, home.store, log)},
	}
	if c.Demo {
		site := demo.New(demo.Config{BaseURL: base, Store: home.store, Provider: provider, Log: log})
		doors = append(house{{demo.Path, site}}, doors...)
	}
	var front Front = requests.Front(requests.Config{Log: log, Quiet: !c.LogRequests, ClientIP: client, Observer: observer})
	return front(doors), provider, nil
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
