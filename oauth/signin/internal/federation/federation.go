package federation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// Federation signs users in by other providers.
type Federation struct {
	*flow.Steps
	Store  store
	Users  users.ConnectedUsers
	Logins users.LoginStore
	Labels methods.Labels
	Ways   access.Ways // whom each provider makes a user of
	Base   string      // the service's origin

	HasPassword func(ctx context.Context, sub string) (bool, error) // nil: their Logins say it

	Invitations users.InvitedUsers // nil: the Users decide by themselves who becomes one of them
	providers   []provider
}

// store keeps the visits to providers; *storage.Store implements it.
type store interface {
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	EndTicket(ctx context.Context, t storage.Ticket) error
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	SaveGroup(ctx context.Context, g groups.Group) (groups.Group, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	FollowGroups(ctx context.Context, sub, connector string, names []string) (before, after []string, err error)
}

// Connect adds the providers, and returns the links to sign in by them and to link them.
func (f *Federation) Connect(all []connector.Connector) (offered, linkable []web.Link, err error) {
	if f.Users == nil && len(all) > 0 {
		return nil, nil, errors.New("signin: Connectors: Users.Connected is nil: give users.ConnectedUsers")
	}
	f.Labels = methods.Labels{}
	for _, c := range all {
		name := c.Name()
		label, of, err := methods.LabelOf(c)
		if err != nil {
			return nil, nil, err
		}
		if f.Labels[name] != "" {
			return nil, nil, fmt.Errorf("signin: Connectors: %q is there twice", name)
		}
		f.Labels[name] = cmp.Or(of, label)
		f.providers = append(f.providers, provider{f, c})
		offered = append(offered, web.Link{Path: web.WithPath + name, Label: "Sign in with " + label, Of: of, Method: name})
		linkable = append(linkable, web.Link{Path: web.WithPath + name + "/link", Label: "Link " + label, Of: of, Post: true,
			Method: name})
	}
	return offered, linkable, nil
}

func (f *Federation) Routes() (routes []reply.Route) {
	for _, u := range f.providers {
		at, get := web.WithPath+u.Name(), []string{http.MethodGet}
		routes = append(routes,
			reply.Route{Path: at, Methods: get, Handle: u.serveStart, Fail: web.Fail},
			reply.Route{Path: at + "/return", Methods: get, Handle: u.serveReturn, Fail: web.Fail},
			reply.Route{Path: at + "/join", Methods: []string{http.MethodPost}, Handle: u.serveJoin, Fail: web.Fail},
			reply.Route{Path: at + "/link", Methods: []string{http.MethodPost}, Handle: u.serveLink, Fail: web.Fail},
		)
	}
	return routes
}
