package federation

import (
	"embed"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
)

// joining is the kind of the tickets of people whom a provider knows and who need an invitation to become
// users here. The profile is the ticket's subject.
const joining = "joining"

//go:embed join.html
var files embed.FS

var joinPage = web.Parse(files, "join")

// joinView holds the data of the page that asks for an invitation.
type joinView struct {
	web.View
	Action     string // where its form is sent
	State      string // leads to the ticket
	Invitation string // as typed
}

// asksForInvitation reports whether people who are no users yet need an invitation here.
func (u provider) asksForInvitation() bool {
	return u.Invitations != nil && u.Ways.Of(u.Name()) == access.SignUpInvitation
}

// askForInvitation keeps who the provider says that a person is, and asks them for the code of their invitation.
func (u provider) askForInvitation(w http.ResponseWriter, r *http.Request, query string, p connector.Profile) error {
	subject, err := json.Marshal(p)
	if err != nil {
		return err
	}
	// a picture may have a long address; it comes again at the next visit
	if len(query)+len(subject) > web.MaxStored+maxProfile {
		p.Avatar = ""
		if subject, err = json.Marshal(p); err != nil {
			return err
		}
	}
	state, now := drawState(), time.Now().UTC()
	_, err = u.Store.SaveTicket(r.Context(), storage.Ticket{
		ID: handle.Hash(state), Kind: joining, Method: u.Name(), Browser: u.Pages.Bind(w), Query: query,
		Subject: string(subject),
		IP:      u.Peer(r).String(), CreatedAt: now, ExpiresAt: now.Add(limits.VisitLife),
	})
	if err != nil {
		return err
	}
	return u.showJoin(w, r, http.StatusOK, query, joinView{State: state})
}

// maxProfile bounds the profile that a ticket carries beside an authorize request.
const maxProfile = 3 << 10

func (u provider) showJoin(w http.ResponseWriter, r *http.Request, status int, query string, view joinView) error {
	t, err := u.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	view.Title, view.Action = "You are new here", web.WithPath+u.Name()+"/join"
	if view.Alert != "" {
		view.Alert = t.Lang.T(view.Alert)
	}
	return t.Show(w, status, joinPage, &view)
}

// serveJoin makes a user of a person whom the provider knows and who has an invitation.
func (u provider) serveJoin(w http.ResponseWriter, r *http.Request) error {
	in, err := u.Pages.ReadFields(w, r, "state", "invitation")
	if err != nil {
		return err
	}
	t, err := u.ticket(r, in["state"], joining)
	switch {
	case errors.Is(err, errUnknownState):
		return u.showUnknownState(w, r)
	case err != nil:
		return err
	}
	again := func(status int, alert string) error {
		return u.showJoin(w, r, status, t.Query, joinView{View: web.View{Alert: alert}, State: in["state"],
			Invitation: in["invitation"]})
	}
	if strings.TrimSpace(in["invitation"]) == "" {
		return again(http.StatusBadRequest, web.InvitationMissing)
	}
	invitation, wait, err := u.Invited(r, u.Invitations, in["invitation"])
	if err == nil && wait == 0 {
		wait = u.AllowByIP(r)
	}
	if wait > 0 {
		return u.Pages.ShowThrottled(w, r, t.Query, wait, false)
	}
	var user storage.User
	var p connector.Profile
	if err == nil {
		user, p, err = u.join(r, t, invitation)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return again(http.StatusUnauthorized, web.InvitationWrong)
	case err != nil:
		return err
	case user.Disabled:
		return u.showRefused(w, r, t.Query, notThisWay)
	}
	return u.letIn(w, r, user, p, t.Query)
}

// join makes a user of the profile of a ticket, with an invitation. The ticket is used up afterwards, so that a code
// which another person has used first can be corrected; the invitation itself makes one user only.
func (u provider) join(
	r *http.Request, t storage.Ticket, invitation string,
) (user storage.User, p connector.Profile, err error) {
	if err := json.Unmarshal([]byte(t.Subject), &p); err != nil {
		return user, p, err
	}
	if user, err = u.connected(r, p, invitation); err != nil {
		return user, p, err
	}
	if err := u.Store.EndTicket(r.Context(), t); err != nil && !errors.Is(err, storage.ErrConflict) &&
		!errors.Is(err, storage.ErrNotFound) {
		return user, p, err
	}
	if user.Disabled {
		return user, p, nil
	}
	u.Log.InfoContext(r.Context(), "signed up", "sub", user.Sub, "ip", u.Peer(r), "by", u.Name())
	return user, p, u.Trail.WriteNow(r, event.Registration,
		event.Event{User: user.Sub, Detail: "signed up by " + u.Name()})
}
