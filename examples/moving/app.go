package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// person holds what an application learns of somebody who signs in.
type person struct {
	UID      string // social_uid, which is user.openid: the same on both ways
	Nickname string
}

// visit holds what the application remembers of a sign-in until the browser is back.
type visit struct{ state, nonce, verifier string }

func newVisit() visit { return visit{rand.Text(), rand.Text(), rand.Text() + rand.Text()} }

// way leads people through a sign-in: old.go or new.go.
type way interface {
	begin(ctx context.Context, v visit) (address string, err error)
	finish(ctx context.Context, v visit, back url.Values) (person, error)
}

// shop is the application. It keeps its records under the id of the person.
type shop struct {
	mu     sync.Mutex
	way    way
	visits map[string]visit // by the cookie of a browser
	orders map[string]int   // by UID
}

func newShop(w way) *shop {
	return &shop{way: w, visits: map[string]visit{}, orders: map[string]int{}}
}

// move signs people in another way from now on.
func (s *shop) move(to way) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.way = to
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.URL.Path {
	case "/login":
		err = s.login(w, r)
	case "/back":
		err = s.back(w, r)
	default:
		http.NotFound(w, r)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (s *shop) login(w http.ResponseWriter, r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, browser := newVisit(), rand.Text()
	address, err := s.way.begin(r.Context(), v)
	if err != nil {
		return err
	}
	s.visits[browser] = v
	http.SetCookie(w, &http.Cookie{Name: "shop", Value: browser, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, address, http.StatusFound)
	return nil
}

var errOther = errors.New("this sign-in was begun in another browser: begin again at /login")

func (s *shop) back(w http.ResponseWriter, r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cookie, err := r.Cookie("shop")
	if err != nil {
		return errOther
	}
	v, known := s.visits[cookie.Value]
	delete(s.visits, cookie.Value)
	if !known || r.URL.Query().Get("state") != v.state {
		return errOther
	}
	p, err := s.way.finish(r.Context(), v, r.URL.Query())
	if err != nil {
		return err
	}
	s.orders[p.UID]++
	_, err = fmt.Fprintf(w, "%s is %s, order %d", p.Nickname, p.UID, s.orders[p.UID])
	return err
}
