package factor

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

const (
	kind  = "factor"
	life  = 10 * time.Minute
	tries = 5 // wrong codes, until the first step has to be done again
)

// ErrEnded says that no sign-in waits for a second factor in this browser, or no longer.
var ErrEnded = errors.New("signin: no sign-in waits for a second factor in this browser")

// Pending is a sign-in that waits for a second factor.
type Pending struct {
	ticket  storage.Ticket
	User    storage.User
	By      session.Proof   // the first factor
	Level   string          // what was asked for: see Levels; "": any second factor
	Raise   bool            // the user is signed in, and proves more
	Enrol   bool            // the user has no second factor yet, and adds one
	Factors storage.Factors // of the user
	Why     string          // they are asked, in English, where it is not obvious
}

// hold keeps a sign-in until the browser has proved more, and redirects it to the page that asks.
func (s *Factors) hold(w http.ResponseWriter, r *http.Request, p Pending, query string) error {
	if err := web.CheckLength(r, query); err != nil {
		return err
	}
	cookie, now := s.Pages.BindSecret(w), time.Now().UTC()
	state := url.Values{"amr": {p.By.AMR}, "at": {strconv.FormatInt(p.By.Time().UnixNano(), 10)}, "level": {p.Level}}
	if p.By.From != "" {
		state.Set("from", p.By.From)
	}
	if !p.By.Until.IsZero() {
		state.Set("until", strconv.FormatInt(p.By.Until.UnixNano(), 10))
	}
	for name, is := range map[string]bool{"raise": p.Raise, "unsaid": p.By.Unsaid, "alone": p.By.Alone,
		"settled": p.By.Settled} {
		if is {
			state.Set(name, "1")
		}
	}
	if p.Why != "" {
		state.Set("why", p.Why)
	}
	to, ends := Path, now.Add(life)
	if p.Enrol {
		state.Set("enrol", "1")
		if to, ends = EnrolPath, now.Add(enrolLife); !s.Until(p).IsZero() {
			to = RemindPath
		}
	}
	_, err := s.Store.SaveTicket(r.Context(), storage.Ticket{
		ID: ticketID(cookie), Kind: kind, Browser: handle.Hash(cookie), Query: query, Method: p.By.Method, UserID: p.User.Sub,
		State: state.Encode(), IP: s.Peer(r).String(), Agent: web.AgentOf(r), CreatedAt: now, ExpiresAt: ends,
	})
	if err != nil {
		return err
	}
	return web.SeeOther(w, to)
}

// ticketID returns the id of the one sign-in that can wait in a browser.
func ticketID(cookie string) string { return handle.Hash(kind + ":" + cookie) }

// Pending returns the sign-in that waits in the browser of a request for a second factor, or ErrEnded.
func (s *Factors) Pending(r *http.Request) (Pending, error) {
	p, err := s.waiting(r)
	if err == nil && p.Enrol { // it was begun without one, and longer ago perhaps than a code may be
		err = ErrEnded
	}
	return p, err
}

// waiting returns what waits in the browser of a request, or ErrEnded.
func (s *Factors) waiting(r *http.Request) (p Pending, err error) {
	cookie := web.BrowserSecret(r)
	if cookie == "" {
		return p, ErrEnded
	}
	p.ticket, err = s.Store.Ticket(r.Context(), ticketID(cookie))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return p, ErrEnded
	case err != nil:
		return p, err
	case p.ticket.Kind != kind || !p.ticket.Live(time.Now()) || p.ticket.Tries >= tries:
		return p, ErrEnded
	}
	state, err := url.ParseQuery(p.ticket.State)
	if err != nil {
		return p, err
	}
	at, err := strconv.ParseInt(state.Get("at"), 10, 64)
	if err != nil {
		return p, err
	}
	p.By = session.Proof{Method: p.ticket.Method, AMR: state.Get("amr"), At: time.Unix(0, at), From: state.Get("from")}
	p.By.Unsaid, p.By.Alone, p.By.Settled = state.Has("unsaid"), state.Has("alone"), state.Has("settled")
	if until := state.Get("until"); until != "" {
		ends, err := strconv.ParseInt(until, 10, 64)
		if err != nil {
			return p, err
		}
		p.By.Until = time.Unix(0, ends).UTC()
	}
	p.Why, p.Level, p.Raise, p.Enrol = state.Get("why"), state.Get("level"), state.Get("raise") != "",
		state.Get("enrol") != ""
	p.User, err = s.Users.User(r.Context(), p.ticket.UserID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && p.User.Disabled {
		return p, ErrEnded
	}
	if err == nil {
		p.Factors, err = s.Store.Factors(r.Context(), p.User.Sub)
	}
	return p, err
}

// Finish signs in the user of a pending sign-in, once they have proved a second factor in these ways. It
// uses the sign-in up: of two requests one goes on, the other gets ErrEnded.
//
// Both factors are as recent as the later one, unless the first was proved long ago: by the session of a user
// who is signed in, or of the phone that has scanned a code. Otherwise a lost phone with an open session
// would give a fresh sign-in by a code alone, which the same phone may show.
func (s *Factors) Finish(w http.ResponseWriter, r *http.Request, p Pending, amr ...string) error {
	if err := s.use(r, p.ticket); err != nil {
		return err
	}
	by := p.By.With(amr...)
	if !p.Raise && p.By.From == "" && p.By.RecentAt(p.ticket.CreatedAt) {
		by.At = time.Now()
	}
	s.Log.InfoContext(r.Context(), "second factor proved", "sub", p.User.Sub, "ip", s.Peer(r))
	return s.Base.Finish(w, r, p.User, by, p.ticket.Query)
}

// use ends a ticket, whatever was tried in between; only one request can.
func (s *Factors) use(r *http.Request, t storage.Ticket) error {
	for {
		err := s.Store.EndTicket(r.Context(), t)
		if !errors.Is(err, storage.ErrConflict) {
			if errors.Is(err, storage.ErrNotFound) {
				err = ErrEnded
			}
			return err
		}
		t, err = s.Store.Ticket(r.Context(), t.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return ErrEnded
		case err != nil:
			return err
		}
	}
}
