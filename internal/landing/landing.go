// Package landing has the page at the root of a service, which says what is there, and the answer for paths of nobody.
package landing

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
)

// Link is a place of the service.
type Link struct {
	Name  string // in JSON
	Label string // in English; the page shows it in the reader's language
	URL   string
}

// Route returns the page of the links: for a browser a page, else JSON.
func Route(links []Link) reply.Route {
	return reply.Route{Path: "/{$}", Methods: []string{http.MethodGet, http.MethodHead},
		Handle: func(w http.ResponseWriter, r *http.Request) error { return index(w, r, links) }}
}

// NothingHere answers a path that nobody serves: to a browser with a page.
func NothingHere(r *http.Request) reply.FailFunc {
	if !wantsPage(r) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
		page.Fail(w, r, f.Status, "There is no such page", "Check the address.")
	}
}

func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

func index(w http.ResponseWriter, r *http.Request, links []Link) error {
	if !wantsPage(r) {
		all := map[string]string{}
		for _, to := range links {
			all[to.Name] = to.URL
		}
		return reply.JSON(w, http.StatusOK, all)
	}
	lang := page.LangOf(r, r.URL.Query().Get("ui_locales"))
	var body strings.Builder
	fmt.Fprintf(&body, "<h1>Keystile</h1>\n<p class=\"lead\">%s</p>\n",
		lang.T("Sign-in, a gateway and tools for agents: one key for all of them."))
	for i, to := range links {
		class := "button quiet"
		if i == 0 {
			class = "button"
		}
		fmt.Fprintf(&body, "<p><a class=\"%s\" href=\"%s\">%s</a></p>\n", class, template.HTMLEscapeString(to.URL),
			lang.T(to.Label))
	}
	look := page.Look{Lang: lang, Title: "Keystile", Brand: page.Brand{Mark: true}}
	return page.Write(w, http.StatusOK, look, template.HTML(body.String()))
}
