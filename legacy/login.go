package legacy

import (
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

type loginAnswer struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// login serves act=login: it authenticates an application and returns the address of a
// sign-in. A browser that was sent here itself is redirected.
func (l *Legacy) login(w http.ResponseWriter, c *call) error {
	app, err := l.authenticate(c)
	if err != nil {
		return err
	}
	target, err := c.target(app)
	if err != nil {
		return err
	}
	loginType := c.params.Get("type")
	if loginType == "" {
		loginType = l.c.Types[0]
	}
	if !l.offers(loginType) {
		return l.notOffered(loginType)
	}
	to := l.c.SignIns.LegacySignIn(app, loginType, target, c.params.Get("state"))
	if navigates(c.Request) {
		return reply.Found(w, to)
	}
	return succeed(w, app, loginAnswer{loginType, to})
}

// target returns the redirect_uri of a request. It refuses one that the application's rule
// does not allow (protocol 5).
func (c *call) target(app storage.App) (string, error) {
	uri := c.params.Get("redirect_uri")
	if uri == "" {
		return "", badParameter.Saying("redirect_uri is missing")
	}
	if len(c.params.Get("state")) > maxState {
		return "", badParameter.Saying("state is longer than 2,048 bytes")
	}
	if err := app.AllowsRedirect(uri); err != nil {
		return "", badRedirect.Saying("redirect_uri is not allowed: " + err.Error())
	}
	return uri, nil
}
