package otp

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// Codes sends one-time codes by email, and takes them.
type Codes struct {
	*flow.Steps
	Store     store
	Users     userStore
	Emails    users.EmailUsers
	Passwords users.PasswordUsers // nil: passwords cannot be reset
	Outbox    *outbox.Outbox
	Site      string // what emails call the service
	SignUp    string // whom an address that nobody has makes a user of

	Invitations users.InvitedUsers // who finds invitations, where SignUp asks for them

	ChangePassword func(r *http.Request, u storage.User, password string) error
}

// invited reports whether people who are not users yet need an invitation to get a code.
func (s *Codes) invited() bool { return s.SignUp == access.SignUpInvitation }

// admits reports whether an address that nobody has makes a new user, for a person with an invitation (its ID) or
// without (""). Whether that can still be used is decided when it is.
func (s *Codes) admits(invitation string) bool {
	return s.SignUp == access.SignUpOpen || s.invited() && invitation != ""
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// store keeps the codes; *storage.Store implements it.
type store interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	TicketsAbout(ctx context.Context, kind, subject string) ([]storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
}

// Flows returns all flows.
func (s *Codes) Flows() []*Flow {
	if s.Passwords == nil {
		return []*Flow{SignInFlow, LinkFlow}
	}
	return []*Flow{SignInFlow, LinkFlow, ResetFlow}
}

func (s *Codes) Routes() (all []reply.Route) {
	both := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	for _, e := range s.Flows() {
		all = append(all,
			reply.Route{Path: e.Path, Methods: both, Fail: web.Fail, Handle: func(w http.ResponseWriter,
				r *http.Request) error {
				return s.serveAddress(w, r, e)
			}},
			reply.Route{Path: e.CodePath(), Methods: both, Fail: web.Fail,
				Handle: func(w http.ResponseWriter, r *http.Request) error { return s.serveCode(w, r, e) }},
		)
	}
	return all
}
