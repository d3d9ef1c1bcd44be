package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/jobs"
	"github.com/keystile/keystile/storage"
)

// The limits of an Outbox.
const (
	Capacity = 1000 // emails of one kind that wait or are on their way
	Workers  = 4
	SendTime = 2 * time.Minute  // for one of them, whatever the Mailer allows itself
	Every    = 15 * time.Second // of looking for what other processes have left
)

// ErrFull says that too many emails wait, or that the Outbox is closed.
var ErrFull = errors.New("signin: too many emails are waiting to be sent")

// Store keeps the emails that wait; *storage.Store implements it.
type Store interface {
	AddMail(ctx context.Context, m storage.Mail) (storage.Mail, error)
	Mail(ctx context.Context, id string) (storage.Mail, error)
	SaveMail(ctx context.Context, m storage.Mail) (storage.Mail, error)
	DeleteMail(ctx context.Context, m storage.Mail) error
	DueMails(ctx context.Context, by time.Time, n int) ([]storage.Mail, error)
	CountMails(ctx context.Context, kind, of string, n int) (int, error)
}

// Mailer sends emails.
type Mailer interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Message is an email as it is sent. Without an address in To nothing is.
type Message struct {
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
}

// Write writes the email of what was promised, or decides that none is sent.
type Write func(ctx context.Context, promised json.RawMessage) (Message, error)

// Outbox sends the emails that wait in the store. Make it with New, begin with Start, end it with
// Close.
type Outbox struct {
	store  Store
	mailer Mailer
	log    *slog.Logger
	writes map[string]Write
	runner *jobs.Runner[storage.Mail] // nil: not started
	closed atomic.Bool
}

// New makes an Outbox.
func New(store Store, mailer Mailer, log *slog.Logger) *Outbox {
	return &Outbox{store: store, mailer: mailer, log: log}
}

// Start begins to send, what earlier processes have left too. Writes has a function for each kind
// of email. Emails are sent with the values of ctx; that ends by Close and not with ctx.
func (o *Outbox) Start(ctx context.Context, writes map[string]Write) {
	o.writes = writes
	o.runner = jobs.New(jobs.Queue[storage.Mail]{
		Due: o.store.DueMails, Wait: storage.Mail.Wait, Claim: o.claim, Do: o.send, Every: Every, Parallel: Workers,
		Log:     o.log,
		Failing: "mails are not sent, because the store fails; they wait there", Again: "mails are sent again",
	})
	o.runner.Start(ctx)
}

// content holds what a mail seals.
type content struct {
	Promised json.RawMessage `json:"promised,omitempty"` // for Write
	Message  *Message        `json:"message,omitempty"`  // once it is written: what is left to send
}

// Room returns ErrFull if there is no place for another email of a kind, or if as many of a requester's wait
// as each may have: of names the requester, "" if it does not matter.
func (o *Outbox) Room(ctx context.Context, kind, of string, each int) error {
	if o.closed.Load() {
		return ErrFull
	}
	n, err := o.store.CountMails(ctx, kind, "", Capacity)
	if err == nil && n < Capacity && of != "" {
		if n, err = o.store.CountMails(ctx, kind, of, each); n >= each {
			n = Capacity
		}
	}
	if err == nil && n >= Capacity {
		err = ErrFull
	}
	return err
}

// Put stores an email that is promised, and of use for some time. Look for Room before.
func (o *Outbox) Put(ctx context.Context, kind, of string, life time.Duration, promised any) error {
	if o.closed.Load() {
		return ErrFull
	}
	text, err := json.Marshal(promised)
	if err != nil {
		return fmt.Errorf("signin: promise a mail: %w", err)
	}
	sealed, err := json.Marshal(content{Promised: text})
	if err != nil {
		return fmt.Errorf("signin: promise a mail: %w", err)
	}
	_, err = o.store.AddMail(ctx, storage.Mail{
		Kind: kind, Of: of, Content: storage.NewSecret(string(sealed)), ExpiresAt: time.Now().UTC().Add(life),
	})
	if err == nil {
		o.runner.Wake()
	}
	return err
}

// Drain waits until every email that is due has been tried.
func (o *Outbox) Drain(ctx context.Context) error {
	if o.runner == nil {
		return nil
	}
	return o.runner.Drain(ctx)
}

// Close sends the emails that are due, until ctx ends. The rest waits in the store.
func (o *Outbox) Close(ctx context.Context) error {
	o.closed.Store(true)
	if o.runner == nil {
		return nil
	}
	if err := o.runner.Drain(ctx); err != nil && ctx.Err() == nil {
		o.log.ErrorContext(ctx, "the store fails; mails wait there for the next process", "error", err)
	}
	if err := o.runner.Close(ctx); err != nil {
		return fmt.Errorf("signin: mails wait in the store: %w", err)
	}
	return nil
}
