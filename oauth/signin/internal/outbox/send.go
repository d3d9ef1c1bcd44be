package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/keystile/keystile/internal/jobs"
	"github.com/keystile/keystile/storage"
)

// lease is the time that an email belongs to the process that sends it: an attempt, and time to
// store what came of it.
const lease = SendTime + 30*time.Second

// pauses follow the attempts that fail. The attempt behind the last pause is the last.
var pauses = [...]time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
}

// claim counts an attempt before it is made: a process that dies of an email gets to the end of
// its attempts all the same.
func (o *Outbox) claim(ctx context.Context, m storage.Mail) (_ storage.Mail, ours bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, jobs.LongWait)
	defer cancel()
	now := time.Now().UTC()
	if m.Attempts > len(pauses) || !now.Before(m.ExpiresAt) {
		if err = o.store.DeleteMail(ctx, m); err == nil {
			o.log.WarnContext(ctx, "a mail is given up: it could not be sent in time", "mail", m.ID, "kind", m.Kind, "attempts",
				m.Attempts)
		}
		return m, false, jobs.UnlessOthers(err)
	}
	m.Attempts++
	m.NextAt = now.Add(lease)
	m, err = o.store.SaveMail(ctx, m)
	return m, err == nil, jobs.UnlessOthers(err)
}

// send makes one attempt and stores the outcome.
func (o *Outbox) send(ctx context.Context, m storage.Mail) {
	left, failed := o.attempt(ctx, m)
	if failed != nil && ctx.Err() != nil {
		return // cut off by Close: nobody knows what came of it
	}
	next := m
	over := failed == nil || permanent(failed) || m.Attempts > len(pauses)
	if !over {
		pause := pauses[m.Attempts-1]
		next.Content, next.NextAt = left, time.Now().UTC().Add(pause+rand.N(pause/10))
		over = !next.NextAt.Before(m.ExpiresAt)
	}
	err := jobs.Record(ctx, m.NextAt, func(ctx context.Context) error { return o.record(ctx, next, m.NextAt, over) })
	switch log := o.log.With("mail", m.ID, "kind", m.Kind, "attempts", m.Attempts); {
	case errors.Is(err, storage.ErrConflict):
		log.DebugContext(ctx, "somebody else has taken a mail over")
	case err != nil && failed == nil:
		log.ErrorContext(ctx, "it cannot be stored that a mail is done with; it is sent again", "error", err)
	case err != nil:
		log.ErrorContext(ctx, "it cannot be stored that a mail was not sent", "error", err, "err", failed)
	case failed == nil:
		log.DebugContext(ctx, "a mail is done with") // sent, or not to be sent: which of the two is nobody's business
	case over:
		log.WarnContext(ctx, "a mail was not sent and is given up", "err", failed)
	default:
		log.WarnContext(ctx, "a mail was not sent; it is tried again", "err", failed, "next", next.NextAt)
	}
}

// record stores the outcome of an attempt. Someone who only seals the mail anew, for another
// master key, changes its version and not its lease.
func (o *Outbox) record(ctx context.Context, next storage.Mail, leased time.Time, over bool) error {
	_, err := storage.RetryOnConflict(ctx, func() (storage.Mail, error) {
		if over {
			if err := o.store.DeleteMail(ctx, next); !errors.Is(err, storage.ErrConflict) {
				return next, err
			}
		} else if saved, err := o.store.SaveMail(ctx, next); !errors.Is(err, storage.ErrConflict) {
			return saved, err
		}
		now, err := o.store.Mail(ctx, next.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return next, nil // it has ended meanwhile
		case err != nil:
			return next, err
		case now.Attempts != next.Attempts || !now.NextAt.Equal(leased):
			return next, errTaken
		}
		next.Version = now.Version
		return next, storage.ErrConflict
	})
	if errors.Is(err, errTaken) {
		return storage.ErrConflict
	}
	return err
}

var errTaken = errors.New("somebody else has the lease")

// attempt sends one email and returns the content of what is left to send. A Mailer is the host's
// own, and its panic must not end the program.
func (o *Outbox) attempt(ctx context.Context, m storage.Mail) (left storage.Secret, err error) {
	left = m.Content
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, SendTime)
	defer cancel()
	message, err := o.message(ctx, m)
	if err != nil {
		return left, err
	}
	unsent := Message{Subject: message.Subject, Text: message.Text}
	var errs []error
	for _, to := range message.To {
		if err := o.mailer.Send(ctx, to, message.Subject, message.Text); err != nil {
			errs = append(errs, err)
			if !permanent(err) {
				unsent.To = append(unsent.To, to)
			}
		}
	}
	if text, err := json.Marshal(content{Message: &unsent}); err == nil {
		left = storage.NewSecret(string(text))
	}
	err = errors.Join(errs...)
	if err != nil && len(unsent.To) > 0 { // what another recipient's server refuses for good ends nothing
		err = errors.New(err.Error())
	}
	return left, err
}

// message returns what is to be sent: what an earlier attempt has left, or what the kind's Write
// writes now.
func (o *Outbox) message(ctx context.Context, m storage.Mail) (Message, error) {
	var c content
	if err := json.Unmarshal([]byte(m.Content.Reveal()), &c); err != nil {
		return Message{}, fmt.Errorf("read the mail: %w", err)
	}
	if c.Message != nil {
		return *c.Message, nil
	}
	write, known := o.writes[m.Kind]
	if !known {
		return Message{}, fmt.Errorf("mails of the kind %q are not known here: another process may know them", m.Kind)
	}
	return write(ctx, c.Promised)
}

// permanent reports whether an error of a Mailer says that trying again is of no use.
func permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}
