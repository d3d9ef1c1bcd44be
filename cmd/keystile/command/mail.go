package command

import (
	"log/slog"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/mailer"
)

// mailerOf sends through the server of the configuration. Where there is none, mails are
// files as long as somebody tries the service out, and afterwards there are none.
func mailerOf(c *config.Config, folder string, log *slog.Logger) (signin.Mailer, error) {
	switch {
	case c.Mail.Host != "":
		m := c.Mail
		s, err := mailer.NewSMTP(mailer.SMTPConfig{
			Host: m.Host, Port: m.Port, TLS: m.TLS, Username: m.Username, Password: m.Password, From: m.From, Timeout: m.Timeout,
		})
		if err != nil {
			return nil, err
		}
		if s.Clear() {
			log.Warn("mails with codes leave this machine unencrypted: set mail.smtp.tls to starttls or implicit",
				"mail.smtp.host", m.Host)
		}
		return s, nil
	case c.Demo:
		log.Info("mails are written to files: set mail.smtp.host to send them", "folder", folder)
		return mailer.NewFolder(folder), nil
	}
	return nil, nil
}
