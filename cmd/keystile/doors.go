package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/gateway"
)

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
	rest, ok := strings.CutPrefix(path, d.path)
	return ok && (rest == "" || rest[0] == '/') || d.path == "/"
}

// services are the doors of those behind the gateway, the longest path first: it is looked
// for first.
func (b *builder) services() (doors house, err error) {
	for _, p := range b.c.Products {
		if p.Upstream == "" {
			continue
		}
		u := gateway.Upstream{Product: p.Name, URL: p.Upstream, KeepBearer: p.KeepBearer, Timeout: p.Timeout, PerSecond: p.Pace}
		if p.Strip {
			u.Strip = p.Prefix
		}
		h, err := b.gateway.Proxy(u)
		if err != nil {
			return nil, err
		}
		doors = append(doors, door{p.Prefix, h})
	}
	slices.SortFunc(doors, func(a, b door) int { return len(b.path) - len(a.path) })
	return doors, nil
}

func namesOf(products []config.Product) (names []string) {
	for _, p := range products {
		names = append(names, p.Name)
	}
	return names
}
