// Package mailer sends the emails of package signin: over SMTP, or into a folder for a trial.
//
//	m, err := mailer.NewSMTP(mailer.SMTPConfig{Host: "smtp.example.com", From: "Example <id@example.com>"})
//	people, err := signin.New(ctx, signin.Config{Mailer: m, ...})
//
// A host with a way of its own to send mail implements signin.Mailer, one method.
//
// # Choices
//
// An email is plain text. It has a connection of its own: sign-in emails are few and must not
// wait for each other, and a kept connection may turn out to be broken.
//
// STARTTLS is required by default. A server that does not offer it, or whose certificate is not
// valid for the host, is sent nothing: codes could be read on the way.
//
// Send tries an email once; package signin tries again. The error has a method Permanent, which
// returns true, where that is of no use: the server refuses the recipient or the text with a code of
// 500 or more, or the email cannot be written.
package mailer
