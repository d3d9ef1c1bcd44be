package scan

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// This file is the browser's side of a sign-in by scanning a code: it shows the code, polls, and
// collects the confirmed sign-in. The phone's side is in phone.go.

// Paths of the browser that shows a code.
const (
	PollPath    = "/oauth/signin/qr/poll"
	CollectPath = "/oauth/signin/qr/collect"
	ScriptPath  = "/oauth/signin/qr.js"
)

// Unmetered returns the paths that have a limit of their own, or are a file.
func Unmetered() []string { return []string{PollPath, ScriptPath} }

//go:embed qr.js
var script []byte

// Scans signs in browsers after their code was scanned with a phone.
type Scans struct {
	*flow.Steps
	Store store
	Users userStore
	Base  string // the service's origin
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// store keeps the scans; *storage.Store implements it.
type store interface {
	Session(ctx context.Context, id string) (storage.Session, error)
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
}

func (s *Scans) Routes() []reply.Route {
	get, post := http.MethodGet, http.MethodPost
	return []reply.Route{
		{Path: web.QRPath, Methods: []string{get}, Handle: s.showCode, Fail: web.Fail},
		{Path: PollPath, Methods: []string{get}, Handle: s.poll},
		{Path: CollectPath, Methods: []string{post}, Handle: s.collect, Fail: web.Fail},
		web.Script(ScriptPath, script),
		{Path: web.ScanPath + "{id}", Methods: []string{get, post}, Handle: s.serveScan, Fail: web.Fail},
	}
}

// showCode begins a sign-in and shows its code. It is a GET although it writes: the ticket belongs
// to nobody yet, ends within minutes, and is limited by address.
func (s *Scans) showCode(w http.ResponseWriter, r *http.Request) error {
	query, err := web.QueryParam(r)
	if err != nil {
		return err
	}
	if err := web.CheckLength(r, query); err != nil {
		return err
	}
	client := network.Of(s.Peer(r))
	if wait := s.Rates.Tickets.Take(r.Context(), client); wait > 0 {
		return web.TooManyCodes.With("Retry-After", web.InSeconds(wait))
	}
	if wait := s.Rates.Scans.Take(client); wait > 0 {
		return web.TooManyCodes.With("Retry-After", web.InSeconds(wait))
	}
	t, id, err := s.draw(w, r, query)
	if err != nil {
		s.Rates.Scans.Done(client)
		return err
	}
	return s.renderCode(w, r, http.StatusOK, id, t, "")
}

// draw makes a ticket that only this browser can collect.
func (s *Scans) draw(w http.ResponseWriter, r *http.Request, query string) (t storage.Ticket, id string, err error) {
	id, now := rand.Text(), time.Now().UTC()
	t, err = s.Store.SaveTicket(r.Context(), storage.Ticket{
		ID: handle.Hash(id), Kind: kind, Browser: s.Pages.Bind(w), Query: query, State: Pending,
		IP: s.Peer(r).String(), Agent: web.AgentOf(r), CreatedAt: now, ExpiresAt: now.Add(limits.ScanLife),
	})
	return t, id, err
}

// begun returns the ticket with this scan id if it was begun in the browser that asks.
func (s *Scans) begun(r *http.Request, id string) (storage.Ticket, error) {
	t, err := s.code(r.Context(), id)
	if err == nil && !web.SameBrowser(t.Browser, web.BrowserOf(r)) {
		return storage.Ticket{}, errEnded
	}
	return t, err
}

// poll returns the state of a code to the browser that shows it: {"code":0,"status":"pending"},
// and once it is scanned the number that the phone shows as well. Any other browser gets 404.
func (s *Scans) poll(w http.ResponseWriter, r *http.Request) error {
	if wait := s.Rates.Polls.TakeOf(r.Context(), network.Of(s.Peer(r))); wait > 0 {
		return web.TooManyPolls.With("Retry-After", web.InSeconds(wait))
	}
	t, err := s.begun(r, r.URL.Query().Get("id"))
	switch {
	case errors.Is(err, errEnded):
		return web.NoCode
	case err != nil:
		return err
	}
	if wait := s.Rates.PollsOfCode.Take(r.Context(), t.ID); wait > 0 {
		return web.TooManyPolls.With("Retry-After", web.InSeconds(wait))
	}
	status, number := stateOf(t, time.Now()), ""
	if status == Scanned {
		number = t.Number
	}
	w.Header().Set("Cache-Control", "no-store")
	return reply.JSON(w, http.StatusOK, struct {
		Code   int    `json:"code"`
		Status string `json:"status"`
		Number string `json:"number,omitempty"`
	}{0, status, number})
}

func stateOf(t storage.Ticket, now time.Time) string {
	if !t.Live(now) || t.State == Collected {
		return Expired
	}
	return t.State
}

// collect signs the browser in as the user who confirmed, once. While its address is locked it
// answers 429 like every attempt (protocol 8), but there is nothing to guess here, so nothing
// counts as failed.
func (s *Scans) collect(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Pages.ReadFields(w, r, "id", "query")
	if err != nil {
		return err
	}
	query, err := web.Carry(in["query"])
	if err != nil {
		return err
	}
	ip := s.Peer(r)
	if wait := s.Guard.Begin(r.Context(), ip); wait > 0 {
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.Pages.ShowThrottled(w, r, query, wait, false)
	}
	defer s.Guard.End(r.Context(), ip, false)
	t, err := s.begun(r, in["id"])
	if err == nil && !t.Live(time.Now()) {
		err = errEnded
	}
	switch {
	case errors.Is(err, errEnded):
		return s.showEnded(w, r, http.StatusBadRequest, query, endedText)
	case err != nil:
		return err
	case t.State == Rejected:
		return s.showEnded(w, r, http.StatusForbidden, t.Query, rejectedText)
	case t.State == Collected:
		return s.showEnded(w, r, http.StatusBadRequest, t.Query, endedText)
	case t.State != Confirmed:
		return s.renderCode(w, r, http.StatusBadRequest, in["id"], t, waitingText)
	}
	return s.signInAsConfirmer(w, r, t)
}

// signInAsConfirmer signs in as the user who confirmed a ticket, unless they are disabled or the
// session they confirmed with has ended. Of many requests one succeeds.
func (s *Scans) signInAsConfirmer(w http.ResponseWriter, r *http.Request, t storage.Ticket) error {
	by, user, err := s.confirmer(r.Context(), t)
	if errors.Is(err, storage.ErrNotFound) {
		s.Trail.Refused(r, http.StatusForbidden, "")
		return s.showEnded(w, r, http.StatusForbidden, t.Query, withdrawnText)
	}
	if err == nil {
		t.State = Collected
		_, err = s.Store.SaveTicket(r.Context(), t)
	}
	switch {
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound):
		return s.showEnded(w, r, http.StatusBadRequest, t.Query, endedText)
	case err != nil:
		return err
	}
	s.Pages.RememberWay(w, r, web.MarkQR)
	s.Rates.Scans.Ended(t)
	s.Log.InfoContext(r.Context(), "signed in by a code", "sub", user.Sub, "ip", s.Peer(r))
	return s.SignIn(w, r, user, session.HandedOn(by), t.Query)
}

// confirmer reads the session and the user that confirmed a ticket, or returns storage.ErrNotFound.
func (s *Scans) confirmer(ctx context.Context, t storage.Ticket) (storage.Session, storage.User, error) {
	v, err := s.Store.Session(ctx, t.Session)
	if err == nil && !v.Live(time.Now()) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return v, storage.User{}, err
	}
	u, err := s.Users.User(ctx, t.UserID)
	if err == nil && u.Disabled {
		err = storage.ErrNotFound
	}
	return v, u, err
}
