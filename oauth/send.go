package oauth

import (
	"fmt"
	"net/http"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/oauth/internal/outgoing"
)

// send starts to tell applications of the end of sessions, and operators of users.
//
// An application with a BackchannelLogoutURI is told of the end of sessions (OpenID Connect Back-Channel Logout
// 1.0); package internal/record/notify says what is promised, and package internal/outgoing how it is sent. Its owner
// sets that address with a user's token of scope apps or in the console, with a sign-in of the last ten minutes
// as for redirect_uris; so do administrators and operators, who alone may name one of this machine or of a
// private network (decision 101). Its host is one of the application's domains. Operators alone choose where
// user events go.
//
// A stranger can cause a bounded number of messages: one for each code that was given and one for each
// application that was met, to addresses that their owners have registered, one at a time and five a second for
// an application. The same message is not queued twice, and a queue holds storage.MaxTold.
func (s *Server) send() (err error) {
	if s.c.NoDelivery {
		return nil
	}
	var clients [3]*http.Client
	for i, list := range []struct {
		name  string
		allow []string
	}{{"AllowPrivateEvents", s.c.AllowPrivateEvents}, {"AllowPrivate", s.c.AllowPrivate}, {}} {
		guard, err := netguard.New(netguard.Config{Allow: list.allow})
		if err != nil {
			return fmt.Errorf("%s: %w", list.name, err)
		}
		clients[i] = guard.Client(0)
	}
	s.sender, err = outgoing.New(outgoing.Config{
		Store: s.store, Issuer: s.issuer, Client: clients[0], Logouts: clients[1], Public: clients[2], Sign: s.signFor,
		Note: s.c.Audit.Note, Log: s.c.Log,
	})
	return err
}
