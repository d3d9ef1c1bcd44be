package demo

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/cookies"
)

// results remembers what the last sign-ins have shown, so that a page that is reloaded shows it
// again: the code behind it was redeemed once. It keeps maxResults for resultLife each.
type results struct {
	mu  sync.Mutex
	all []result // in the order in which they came
}

type result struct {
	id    string
	view  view
	since time.Time
}

const (
	maxResults   = 64
	resultLife   = 10 * time.Minute
	resultCookie = cookies.DemoResult
)

// add remembers a page and returns what it is found by, which nobody can guess.
func (r *results) add(v view, now time.Time) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == maxResults {
		r.all = append(r.all[:0], r.all[1:]...)
	}
	id = rand.Text()
	r.all = append(r.all, result{id, v, now})
	return id
}

func (r *results) find(id string, now time.Time) (v view, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if one.id == id && now.Sub(one.since) < resultLife {
			return one.view, true
		}
	}
	return view{}, false
}

// show sends the browser to the page of a result: reloading it asks for nothing a second time.
func (d *Demo) show(w http.ResponseWriter, v view) error {
	http.SetCookie(w, d.cookie(resultCookie, d.results.add(v, time.Now()), int(resultLife/time.Second)))
	return away(w, d.base+resultPath)
}

// result is the page of the sign-in that this browser has come from.
func (d *Demo) result(w http.ResponseWriter, r *http.Request) error {
	if c, err := r.Cookie(resultCookie); err == nil {
		if v, ok := d.results.find(c.Value, time.Now()); ok {
			return write(w, http.StatusOK, "claims", v)
		}
	}
	return away(w, d.base+Path)
}

// away sends the browser on with a GET.
func away(w http.ResponseWriter, to string) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
