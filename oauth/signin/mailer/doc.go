// Package mailer sends the mails of package signin: over SMTP, or into a folder while
// something is being tried out.
//
// # Choices
//
// A mail is plain text. It has a connection of its own: sign-in mails are few and must not
// wait for each other, and a connection that is kept must be found broken first.
//
// STARTTLS is demanded unless told otherwise. A server that does not offer it, or whose
// certificate is not good for the host, is sent nothing: codes would be read on the way.
//
// A mail is tried once. Who waits for a code asks for another one sooner than a second
// attempt would come.
package mailer
