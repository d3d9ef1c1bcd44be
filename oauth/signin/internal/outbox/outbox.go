package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// What an Outbox holds and does at once.
const (
	Capacity = 256 // emails that wait or are on their way
	Workers  = 4
	SendTime = 2 * time.Minute // for one of them, whatever the Mailer allows itself
)

// Outbox sends emails beside the requests that cause them, so that neither a slow server
// nor the question whether an email is sent at all shows in how long an answer takes. Its
// goroutines run only while there is something to send.
type Outbox struct {
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

// delivery decides whether an email is sent, and sends it.
type delivery func(context.Context) error

// New makes an Outbox. Its emails are sent with the values of ctx; it ends by Close and not with ctx.
func New(ctx context.Context, log *slog.Logger) *Outbox {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	return &Outbox{log: log, life: life, end: end}
}

// Reserve takes a place, if there is one; put or release must follow.
func (o *Outbox) Reserve() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.held >= Capacity {
		return false
	}
	o.held++
	return true
}

// Release gives back a place that was reserved.
func (o *Outbox) Release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held--
}

// Put has something sent in the place that was reserved.
func (o *Outbox) Put(send delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		o.held--
		return
	}
	o.waiting = append(o.waiting, send)
	if o.working < Workers {
		o.working++
		o.workers.Go(o.work)
	}
}

func (o *Outbox) work() {
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
		o.Release()
	}
}

// try sends one mail. A Mailer is the host's own, and its panic must not end the program.
func (o *Outbox) try(send delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(o.life, SendTime)
	defer cancel()
	return send(ctx)
}

// Close waits until everything is sent, or until ctx ends; what is left then is given up.
func (o *Outbox) Close(ctx context.Context) error {
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
