package main

import (
	"net/http"
)

// registrar makes applications at one node, has others serve them, and disables some.
type registrar struct {
	*actor
	made    pool[application]
	current []application
}

func (r *registrar) step() {
	switch draw := r.rand.IntN(10); {
	case draw < 4 || len(r.current) == 0:
		r.make()
	case draw < 8:
		r.old()
	default:
		r.disable()
	}
}

func (r *registrar) make() {
	at := r.node()
	app := r.makeApp(at, "Cluster", "enterprise")
	if app == nil {
		return
	}
	if token, a := r.machine(r.other(at), *app); token == "" && !a.unknown {
		return
	}
	if r.rand.IntN(3) == 0 && len(r.current) < 20 {
		r.current = append(r.current, *app)
	} else {
		r.made.put(r.rand, *app)
	}
}

// old asks for a token of an application that was made some time ago.
func (r *registrar) old() {
	if app, some := r.made.draw(r.rand); some {
		if token, _ := r.machine(r.way(), app); token != "" {
			r.did("application known")
		}
	}
}

// disable ends an application at one node, and its tokens everywhere.
func (r *registrar) disable() {
	app := r.current[0]
	r.current = r.current[1:]
	bearer, a := r.machine(r.way(), app)
	if bearer == "" || a.unknown {
		return
	}
	a = r.run(r.node(), nil, "app set", []string{"disabled", "true"}, app.ID)
	if a.unknown {
		r.lostSight("application disabled")
		return
	}
	r.did("application disabled")
	r.everyNode("application disabled: its token", a.done, func(node int) (bool, bool, answer) {
		a := r.get(node, "/api/v1/verify?product=ai", "Authorization", "Bearer "+bearer)
		return a.status == http.StatusUnauthorized, a.unknown, a
	})
	r.everyNode("application disabled: a new token", a.done, func(node int) (bool, bool, answer) {
		a := r.post(node, "/oauth/token", app.form("grant_type", "client_credentials"))
		return a.status != http.StatusOK, a.unknown, a
	})
}
