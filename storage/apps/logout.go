package apps

import (
	"errors"
)

// checkLogoutURI returns what is wrong with the BackchannelLogoutURI. Only who registers an application here
// may have requests sent: one that has brought its own description is nobody's.
func (a App) checkLogoutURI() error {
	switch {
	case a.BackchannelLogoutURI == "":
		return nil
	case a.Client != nil:
		return errors.New("an application that nobody registered here is not told of the end of sessions")
	}
	return App{Domains: a.Domains}.AllowsRedirect(a.BackchannelLogoutURI)
}
