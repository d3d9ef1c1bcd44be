package signin

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Mailer sends mails; see package mailer for one over SMTP. It returns soon after its
// context has ended. What it is given is one address, one line and plain text.
type Mailer interface {
	Send(ctx context.Context, to, subject, text string) error
}

const (
	outboxRoom    = 256 // mails that wait or are on their way
	outboxWorkers = 4
	mailTime      = 2 * time.Minute // for one of them, whatever the Mailer allows itself
)

// outbox sends mails beside the requests that cause them, so that neither a slow server
// nor the question whether a mail is sent at all shows in how long an answer takes. Its
// goroutines run only while there is something to send.
type outbox struct {
	log  *slog.Logger
	life context.Context
	end  context.CancelFunc

	mu      sync.Mutex
	waiting []delivery
	held    int // places taken
	working int
	closed  bool
	workers sync.WaitGroup
}

// delivery decides whether a mail is sent, and sends it.
type delivery func(context.Context) error

func newOutbox(ctx context.Context, log *slog.Logger) *outbox {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	return &outbox{log: log, life: life, end: end}
}

// reserve takes a place, if there is one; put or release must follow.
func (o *outbox) reserve() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.held >= outboxRoom {
		return false
	}
	o.held++
	return true
}

func (o *outbox) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held--
}

// put has something sent in the place that was reserved.
func (o *outbox) put(send delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		o.held--
		return
	}
	o.waiting = append(o.waiting, send)
	if o.working < outboxWorkers {
		o.working++
		o.workers.Go(o.work)
	}
}

func (o *outbox) work() {
	for {
		o.mu.Lock()
		if len(o.waiting) == 0 {
			o.working--
			o.mu.Unlock()
			return
		}
		send := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.mu.Unlock()
		if err := o.try(send); err != nil {
			o.log.Warn("a mail was not sent", "err", err)
		} else {
			o.log.Debug("a mail is done with") // sent, or not to be sent: which of the two is nobody's business
		}
		o.release()
	}
}

// try sends one mail. A Mailer is the host's own, and its panic must not end the program.
func (o *outbox) try(send delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(o.life, mailTime)
	defer cancel()
	return send(ctx)
}

// close waits until everything is sent, or until ctx ends; what is left then is given up.
func (o *outbox) close(ctx context.Context) error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	sent := make(chan struct{})
	go func() {
		o.workers.Wait()
		close(sent)
	}()
	defer o.end()
	select {
	case <-sent:
		return nil
	case <-ctx.Done():
	}
	o.end()
	<-sent
	return fmt.Errorf("signin: mails were given up: %w", ctx.Err())
}
