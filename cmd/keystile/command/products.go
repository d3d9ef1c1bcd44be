package command

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/urlpath"
)

// manyReadings is a path that may be one product's here and another's for a service behind it.
var manyReadings = &reply.Failure{Status: http.StatusBadRequest, // RFC 9110 15.5.1
	Msg: `the beginning of the path can be read in more than one way: write it without percent-encoding, backslashes, empty segments and semicolons`}

// products are the services behind the gateway, by their prefixes, the longest first: it is
// looked for first.
type products []product

type product struct {
	prefix  string // escaped
	service http.Handler
}

// productsOf makes the services of the configuration.
func productsOf(c *config.Config, g *gateway.Gateway) (all products, err error) {
	for _, p := range c.Products {
		if p.Upstream == "" {
			continue
		}
		u := gateway.Upstream{Product: p.Name, URL: p.Upstream, Identity: p.Identity, Timeout: p.Timeout,
			PerSecond: p.Pace, UploadRate: p.UploadRate}
		if p.Strip {
			u.Strip = p.Prefix
		}
		h, err := g.Proxy(u)
		if err != nil {
			return nil, err
		}
		all = append(all, product{urlpath.Escape(p.Prefix), h})
	}
	slices.SortFunc(all, func(a, b product) int { return len(b.prefix) - len(a.prefix) })
	return all, nil
}

// before serves what is a product's, and hands on the rest. A path that may be read as
// another product's than the one it is written for is nobody's: one would be charged, and
// the other be used.
func (all products) before(next http.Handler, log *slog.Logger) http.Handler {
	if len(all) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		i := all.find(path)
		for _, reading := range urlpath.Readings(path) {
			if all.find(reading) != i {
				reply.Fail(log, w, r, manyReadings, nil)
				return
			}
		}
		if i < 0 {
			next.ServeHTTP(w, r)
			return
		}
		r.Pattern = all[i].prefix + "/" // which calls are known by, as others are by their route
		all[i].service.ServeHTTP(w, r)
	})
}

// find returns which product's an escaped path is, -1 if it is none's.
func (all products) find(path string) int {
	return slices.IndexFunc(all, func(p product) bool { _, ok := urlpath.Cut(path, p.prefix); return ok })
}

func namesOf(products []config.Product) (names []string) {
	for _, p := range products {
		names = append(names, p.Name)
	}
	return names
}
