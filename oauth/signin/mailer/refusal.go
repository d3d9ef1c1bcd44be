package mailer

import (
	"errors"

	gomail "github.com/wneessen/go-mail"
)

// refusal is an error that the same email meets at each attempt.
type refusal struct{ error }

// Permanent reports that trying again is of no use; package signin asks.
func (refusal) Permanent() bool { return true }

func (r refusal) Unwrap() error { return r.error }

// judged marks the error of a server that refuses a recipient or an email for good (RFC 5321
// 4.2.1). Faults of the connection, the password or the sender are for the operator to mend.
func judged(err error) error {
	var sent *gomail.SendError
	if !errors.As(err, &sent) || sent.ErrorCode() < 500 {
		return err
	}
	switch sent.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return refusal{err}
	}
	return err
}
