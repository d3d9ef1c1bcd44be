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
//
// The type is a method that the sign-in page offers: self, email, wx, qq, alipay, douyin, or the name of
// another connector, such as feishu or wecom, which aggregated logins call wework. The browser is led straight
// to that provider, even if its user is signed in by another way. self, the default, is the sign-in page, with
// whatever way its user chooses. A type that is not offered is refused (104): the error names those that are,
// and what the operator has to set.
//
// The address carries a ticket that only the provider and the application can make; it is good for ten minutes
// and for one redirect_uri, type and state. A browser is led to a provider once in a sign-in. A user who then
// comes in by another way goes on, and the application is told that way: otherwise a user whom the provider
// leads to no account here would go in a circle. Consent, second factors and closed sign-up stand before an
// application on that way as on any other.
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
	to := l.c.Provider.SignIn(app, loginType, target, c.params.Get("state"))
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
