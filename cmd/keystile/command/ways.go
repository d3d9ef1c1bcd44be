package command

import (
	"log/slog"
	"maps"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/counters"
)

// signInConfig says what of a configuration is about signing in.
func signInConfig(c *config.Config, connectors []connector.Connector, mailer signin.Mailer) signin.Config {
	return signin.Config{
		SignUp: c.SignUp, Connectors: connectors, ConnectorSignUp: connectorSignUp(c, connectors), Mailer: mailer,
		NoQR: !c.QR, MFA: c.MFA, DeleteAccount: c.DeleteAccount, Contact: c.Contact,
		ProfileAttributes: c.ProfileAttributes,
		Lock:              counters.Lock{Failures: c.LockFailures, Within: c.LockWindow, For: c.LockDuration},
		SessionIdle:       c.SessionIdle, SessionMax: c.SessionMax,
	}
}

// connectorSignUp returns whom single connectors make a user of. A fake is open unless it is said that it is not:
// anybody on this machine is anybody there.
func connectorSignUp(c *config.Config, connectors []connector.Connector) map[string]string {
	all := map[string]string{}
	if c.FakeProviders {
		for _, one := range connectors {
			all[one.Name()] = signin.SignUpOpen
		}
	}
	maps.Copy(all, c.ConnectorSignUp)
	for _, o := range c.OpenID {
		all[o.Name] = o.SignUp
	}
	return all
}

// ways returns every way in of the service that a configuration describes, and the page that takes invitations.
// Nothing is served by it.
func (h *dataStore) ways() (access.Ways, string, error) {
	base, quiet := origin(h.conf), slog.New(slog.DiscardHandler)
	connectors, _, err := connectorsOf(h.conf, base, h.store, quiet)
	if err != nil {
		return nil, "", err
	}
	mailer, err := mailerOf(h.conf, h.Mail(), quiet)
	if err != nil {
		return nil, "", err
	}
	c := signInConfig(h.conf, connectors, mailer)
	c.BaseURL = base
	return c.Ways(), c.InvitationPage(), nil
}
