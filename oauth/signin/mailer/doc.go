// Package mailer sends the emails of package signin: over SMTP, or into a folder for a trial.
//
// # Choices
//
// An email is plain text. It has a connection of its own: sign-in emails are few and must not
// wait for each other, and a kept connection may turn out to be broken.
//
// STARTTLS is required by default. A server that does not offer it, or whose certificate is not
// valid for the host, is sent nothing: codes could be read on the way.
//
// An email is tried once. A user who waits for a code requests another one sooner than a second
// attempt would come.
package mailer
