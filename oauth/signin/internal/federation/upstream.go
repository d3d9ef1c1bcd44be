package federation

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// Signing in at another provider: the browser is sent there with a state that leads to a
// ticket, and comes back with the state and a code.

const (
	kind = "upstream"
)

// errUnknownState is the error of a visit that was begun in another browser, or is over.
var errUnknownState = errors.New("signin: the visit to a provider is over or unknown")

// provider is one provider on the page.
type provider struct {
	*Federation
	connector.Connector
}

func (u provider) returnTo() string { return u.Base + web.WithPath + u.Name() + "/return" }

// serveStart redirects the browser to the provider. It is a GET although it writes: the ticket
// belongs to nobody yet, ends within minutes, and is limited by address.
func (u provider) serveStart(w http.ResponseWriter, r *http.Request) error {
	query, err := web.QueryParam(r)
	if err != nil {
		return err
	}
	if err := web.CheckLength(r, query); err != nil {
		return err
	}
	return u.redirect(w, r, storage.Ticket{Query: query}, http.StatusFound)
}

func (u provider) redirect(w http.ResponseWriter, r *http.Request, t storage.Ticket, status int) error {
	ip := u.Peer(r)
	if wait := u.Rates.Tickets.Take(r.Context(), network.Of(ip)); wait > 0 {
		return web.TooManyCodes.With("Retry-After", web.InSeconds(wait))
	}
	if wait := u.Guard.Begin(r.Context(), ip); wait > 0 {
		return u.Pages.ShowThrottled(w, r, t.Query, wait, false)
	}
	u.Guard.End(r.Context(), ip, false)
	if t.UserID == "" {
		if wait := u.Rates.Visits.Take(network.Of(ip)); wait > 0 {
			return web.TooManyCodes.With("Retry-After", web.InSeconds(wait))
		}
	}
	visit := connector.Visit{State: drawState(), Back: u.returnTo(), UserAgent: r.UserAgent(), Mobile: onPhone(r)}
	if t.UserID == "" {
		var err error
		if visit.Asked, err = u.asked(r, t.Query); err != nil {
			return err
		}
	}
	to, err := u.Begin(r.Context(), visit)
	if err != nil {
		return u.showTrouble(w, r, t.Query, err)
	}
	now := time.Now().UTC()
	t.ID, t.Kind, t.Method, t.Browser = handle.Hash(visit.State), kind, u.Name(), u.Pages.Bind(w)
	t.IP, t.Agent, t.CreatedAt, t.ExpiresAt = ip.String(), web.AgentOf(r), now, now.Add(limits.VisitLife)
	if _, err := u.Store.SaveTicket(r.Context(), t); err != nil {
		return err // and the visit counts until it is forgotten
	}
	h := w.Header()
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	return nil
}

// drawState draws 128 bits: wx takes letters and digits only, and not many.
func drawState() string {
	raw := make([]byte, 16)
	rand.Read(raw)
	return hex.EncodeToString(raw)
}

func onPhone(r *http.Request) bool { return strings.Contains(r.UserAgent(), "Mobile") }

// serveReturn answers a browser that the provider has sent back. The ticket is used up before the
// request to the provider: of two returns with one state one goes on.
func (u provider) serveReturn(w http.ResponseWriter, r *http.Request) error {
	ip := u.Peer(r)
	t, err := u.useTicket(r)
	switch {
	case errors.Is(err, errUnknownState):
		return u.showUnknownState(w, r)
	case err != nil:
		return err
	}
	if wait := u.Guard.Begin(r.Context(), ip); wait > 0 {
		u.Trail.Refused(r, http.StatusTooManyRequests, "")
		return u.Pages.ShowThrottled(w, r, t.Query, wait, false)
	}
	u.Guard.End(r.Context(), ip, false) // what a provider says is not guessed at
	profile, err := u.Finish(r.Context(), u.returnTo(), r.URL.Query())
	switch {
	case errors.Is(err, connector.ErrDenied):
		return u.Pages.ShowFormWithAlert(w, r, http.StatusOK, t.Query,
			"You have not allowed it there, so you are not signed in. Try again, or choose another way.")
	case errors.Is(err, connector.ErrCode):
		return u.Pages.ShowFormWithAlert(w, r, http.StatusBadRequest, t.Query,
			"The provider does not know this sign-in any more. Begin again.")
	case errors.Is(err, connector.ErrStranger):
		u.Log.InfoContext(r.Context(), "a provider's user may not sign in", "provider", u.Name(), "err", err)
		return u.showRefused(w, r, t.Query, "Only members of the organization can sign in this way, and the provider does "+
			"not count you among them. Choose another way, or ask whoever runs this service.")
	case err != nil:
		return u.showTrouble(w, r, t.Query, err)
	}
	if profile.Unread != "" {
		u.Log.WarnContext(r.Context(), "a provider's user is let in without what it tells of them", "provider", u.Name(),
			"err", profile.Unread)
	}
	if t.UserID != "" {
		return u.linkUser(w, r, t, profile)
	}
	if !proves(askedOf(t.Query), profile.AuthTime, t.CreatedAt) {
		u.Log.InfoContext(r.Context(), "a provider does not prove the sign-in that was asked for", "provider", u.Name())
		return web.SeeOther(w, web.Unproven(t.Query))
	}
	user, err := u.connected(r, profile, "")
	switch {
	case errors.Is(err, storage.ErrNotFound) && u.asksForInvitation():
		return u.askForInvitation(w, r, t.Query, profile)
	case errors.Is(err, storage.ErrNotFound) && u.Invitations != nil:
		return u.showRefused(w, r, t.Query, newcomersRefused)
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	case err != nil || user.Disabled:
		return u.showRefused(w, r, t.Query, notThisWay)
	}
	return u.letIn(w, r, user, profile, t.Query)
}

// Why a person is not let in who is no user, or a disabled one.
const (
	newcomersRefused = "You have no account here, and this way does not open one. If you have an account, sign in to it " +
		"in another way; your account page then links this one. Otherwise ask whoever runs this service for an account."
	notThisWay = "You cannot sign in here in this way. Choose another way, or ask whoever runs this service."
)

// connected returns the user of a profile. A new person becomes one if the way of the provider is open to them, or
// with an invitation (its ID).
func (u provider) connected(r *http.Request, p connector.Profile, invitation string) (storage.User, error) {
	admission := users.Admission{Open: u.Ways.Of(u.Name()) == access.SignUpOpen, Invitation: invitation}
	user, err := u.Users.Connected(users.WithAdmission(r.Context(), admission), u.Name(), p)
	if err == nil && !user.Disabled && p.Groups != nil {
		err = u.followGroups(r, user, p.Groups)
	}
	return user, err
}

// followGroups has a user leave and join groups as the provider says, before they are let in: a user who has left a
// group there must not use it here. Groups that are missing are made. A name that no group can have is passed over: it
// keeps nobody out.
func (u provider) followGroups(r *http.Request, user storage.User, names []string) error {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !access.IsGroupName(name) })
	for _, name := range names {
		_, err := u.Store.Group(r.Context(), name)
		if errors.Is(err, storage.ErrNotFound) {
			_, err = u.Store.SaveGroup(r.Context(), groups.Group{Name: name})
		}
		if err != nil && !errors.Is(err, storage.ErrExists) { // another sign-in was first
			return err
		}
	}
	before, after, err := u.Store.FollowGroups(r.Context(), user.Sub, u.Name(), names)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	return u.Trail.Changed(r, user.Sub, "groups by "+u.Name(), strings.Join(before, ", "), strings.Join(after, ", "))
}

func (u provider) showTrouble(w http.ResponseWriter, r *http.Request, query string, err error) error {
	trouble := (*connector.Trouble)(nil)
	if r.Context().Err() != nil || !errors.As(err, &trouble) {
		return err
	}
	u.Log.WarnContext(r.Context(), "a provider failed", "provider", u.Name(), "err", trouble)
	w.Header().Set("Retry-After", "5")
	return u.Pages.ShowFormWithAlert(w, r, http.StatusServiceUnavailable, query,
		"The provider cannot say who you are at the moment. Try again shortly, or choose another way.")
}

func (u provider) showRefused(w http.ResponseWriter, r *http.Request, query, why string) error {
	u.Trail.Refused(r, http.StatusUnauthorized, "")
	return u.Pages.ShowFormWithAlert(w, r, http.StatusUnauthorized, query, why)
}

// showUnknownState answers a visit that was begun in another browser, or is over.
func (u provider) showUnknownState(w http.ResponseWriter, r *http.Request) error {
	return u.Pages.ShowFormWithAlert(w, r, http.StatusBadRequest, "",
		"This sign-in was begun in another browser, or too long ago. Begin again.")
}

// ticket returns the ticket of a state and a kind, if this browser has begun it here.
func (u provider) ticket(r *http.Request, state, kind string) (storage.Ticket, error) {
	t, err := u.Store.Ticket(r.Context(), handle.Hash(state))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, errUnknownState
	case err != nil:
		return t, err
	case t.Kind != kind || t.Method != u.Name() || !t.Live(time.Now()) || !web.SameBrowser(t.Browser, web.BrowserOf(r)):
		return t, errUnknownState
	}
	return t, nil
}

// useTicket uses up the ticket of a visit, if this browser has begun it here.
func (u provider) useTicket(r *http.Request) (storage.Ticket, error) {
	states := r.URL.Query()["state"]
	if len(states) != 1 {
		return storage.Ticket{}, errUnknownState
	}
	t, err := u.ticket(r, states[0], kind)
	if err != nil {
		return t, err
	}
	err = u.Store.EndTicket(r.Context(), t)
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) {
		return t, errUnknownState
	}
	if err == nil && t.UserID == "" {
		u.Rates.Visits.Ended(t)
	}
	return t, err
}
