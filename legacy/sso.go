package legacy

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/cors"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

type ssoAnswer struct {
	LoggedIn bool `json:"logged_in"`
	*ssoIdentity
}

type ssoIdentity struct {
	Type      string `json:"type"`
	SocialUID string `json:"social_uid"`
	Nickname  string `json:"nickname"`
	FaceImg   string `json:"faceimg"`
}

// checkSSO serves act=check_sso: a page of an application asks, with the visitor's cookie,
// whether they are signed in. With a redirect_uri the browser is sent there with the
// answer, and with a code if it is yes: what OpenID Connect calls prompt=none. No cookie
// comes along from pages of other sites, so that they can only ask in that way.
//
// It is for browsers and needs no key; a visitor is named only to an application that proves itself and has met
// them. To pages of other sites it answers that no user is signed in.
func (l *Legacy) checkSSO(w http.ResponseWriter, c *call) error {
	app, err := l.requestingApp(c)
	if err != nil {
		return err
	}
	foreign := l.crossOrigin(w, c.Request, app)
	target := ""
	if c.params.Get("redirect_uri") != "" {
		if target, err = c.target(app); err != nil {
			return err
		}
		if app.Public {
			return publicApp
		}
	}
	who, err := l.c.Visitors.Visitor(c.Request)
	switch {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	case err != nil || foreign:
		who = storage.Session{}
	}
	if who.UserID != "" {
		c.event.User, c.event.Anonymous = who.UserID, false
	}
	if target != "" {
		return l.sendBack(w, c, app, who, target)
	}
	answer := ssoAnswer{LoggedIn: who.UserID != ""}
	if answer.LoggedIn && hasCredentials(c.params) { // it was authenticated, see requestingApp
		if answer.ssoIdentity, err = l.identity(c, app, who); err != nil {
			return err
		}
	}
	return succeed(w, app, answer)
}

// requestingApp returns the application of a request. A page in a browser has no appkey;
// credentials that are sent must be right.
func (l *Legacy) requestingApp(c *call) (storage.App, error) {
	if hasCredentials(c.params) {
		return l.authenticate(c)
	}
	if err := refuseDuplicates(c.params); err != nil {
		return storage.App{}, err
	}
	app, err := l.find(c)
	if err == nil {
		c.event.App = app.ID
		c.event.Detail += unproven
	}
	return app, err
}

// crossOrigin lets pages on the application's own hosts read the answer, and reports whether
// the request comes from a page of another site.
func (l *Legacy) crossOrigin(w http.ResponseWriter, r *http.Request, app storage.App) (foreign bool) {
	h := w.Header()
	cors.Vary(h, "Origin, Sec-Fetch-Site")
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0:
		// A script or image tag sends no Origin.
		return r.Header.Get("Sec-Fetch-Site") == "cross-site" && !navigates(r)
	case len(origins) > 1:
		return true
	case origins[0] == l.c.BaseURL:
		return false
	}
	hosts := storage.App{Domains: app.Domains, AllowHTTPRedirect: app.AllowHTTPRedirect}
	if hosts.AllowsRedirect(origins[0]+"/") != nil {
		return true
	}
	cors.Allow(h, origins[0])
	return false
}

func (l *Legacy) sendBack(w http.ResponseWriter, c *call, app storage.App, who storage.Session, target string) error {
	state := c.params.Get("state")
	no := reply.WithQuery(target, "sso", "0", "state", state)
	if who.UserID == "" {
		return reply.Found(w, no)
	}
	code, err := l.c.Provider.Code(c.Context(), app, who, target, l.c.ClientIP(c.Request))
	switch {
	case errors.Is(err, storage.ErrNotFound): // the user has not consented, and is not prompted here
		return reply.Found(w, no)
	case err != nil:
		return err
	}
	return reply.Found(w, reply.WithQuery(target, "sso", "1", "type", cmp.Or(who.LoginType, storage.LoginSelf), "code",
		code, "state", state))
}

// identity returns the visitor's identity, nil if the application does not know them.
func (l *Legacy) identity(c *call, app storage.App, who storage.Session) (*ssoIdentity, error) {
	user, openid, err := l.owner(c, app, who.UserID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	p := profileOf(user, openid, cmp.Or(who.LoginType, storage.LoginSelf))
	return &ssoIdentity{p.Type, p.SocialUID, p.Nickname, p.FaceImg}, nil
}
