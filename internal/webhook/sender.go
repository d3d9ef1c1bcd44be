package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/storage"
)

// Store holds the queue of deliveries; *storage.Store implements it.
type Store interface {
	DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
}

// Config holds the parameters of New.
type Config struct {
	Store  Store        // required
	Client *http.Client // required: that of a netguard.Guard, so that no webhook reaches the inside of the network

	// Every is the interval of polling the store for what another process queued and did not
	// send. What this process queues is sent after Wake. 0: 1 min; 1 s to 1 h.
	Every time.Duration
	Log   *slog.Logger // nil: slog.Default()
}

const (
	defaultEvery = time.Minute
	minEvery     = time.Second
	maxEvery     = time.Hour

	parallel  = 4   // attempts at a time
	pageSize  = 100 // deliveries read at a time
	firstWait = 100 * time.Millisecond
	longWait  = 10 * time.Second // between questions to a store that fails, and for its answer
)

// Sender sends the deliveries that are due. Make it with New, end it with Close.
type Sender struct {
	store  Store
	client *http.Client
	every  time.Duration
	log    *slog.Logger

	wake   chan struct{}
	quit   chan struct{} // closed by the first Close
	done   chan struct{} // closed when the last attempt has ended
	end    sync.Once
	cut    context.CancelFunc // ends attempts under way
	places chan struct{}      // one for each attempt under way

	failurePause time.Duration // the last pause of a store that fails; 0: it does not. Belongs to run
}

// New starts a Sender. It sends at once what an earlier life left. Its error names
// everything that is wrong with the Config.
func New(c Config) (*Sender, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	client := *c.Client
	client.Jar = nil
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &Sender{
		store: c.Store, client: &client, every: c.Every, log: c.Log,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		places: make(chan struct{}, parallel),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	ctx, cut := context.WithCancel(context.Background())
	s.cut = cut
	go s.run(ctx)
	return s, nil
}

// check complains of all mistakes at once and fills in the default.
func (c *Config) check() error {
	var errs []error
	if c.Store == nil {
		errs = append(errs, errors.New("webhook: Config.Store is nil: hand over where the deliveries wait"))
	}
	if c.Client == nil {
		errs = append(errs, errors.New("webhook: Config.Client is nil: hand over that of a netguard.Guard"))
	}
	if c.Every == 0 {
		c.Every = defaultEvery
	}
	if c.Every < minEvery || c.Every > maxEvery {
		errs = append(errs, fmt.Errorf("webhook: Config.Every is %v: choose %v to %v", c.Every, minEvery, maxEvery))
	}
	return errors.Join(errs...)
}

// Wake makes the Sender look for due deliveries now. It does not wait for anything.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close begins no more attempts and waits for those under way. When ctx ends first, they
// are cut off and the error says so: they count, and are repeated when their lease ends.
func (s *Sender) Close(ctx context.Context) error {
	s.end.Do(func() { close(s.quit) })
	defer s.cut()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.cut()
	<-s.done
	return fmt.Errorf("webhook: attempts were cut off; they are repeated by the next process: %w", ctx.Err())
}

// run is the one goroutine that looks; those that send are its children.
func (s *Sender) run(ctx context.Context) {
	defer close(s.done)
	var sending sync.WaitGroup
	defer sending.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-s.wake:
			if s.failurePause > 0 {
				continue // the store has its pause, whoever wakes
			}
		case <-timer.C:
		}
		wait, err := s.look(ctx, &sending)
		timer.Reset(s.backOff(ctx, wait, err))
	}
}

// look begins attempts of what is due and returns how long nothing more is, as far as
// this process knows.
func (s *Sender) look(ctx context.Context, sending *sync.WaitGroup) (time.Duration, error) {
	page, err := s.page(ctx)
	if err != nil {
		return 0, err
	}
	for _, d := range page {
		if now := time.Now(); d.WaitsAt(now) {
			return d.NextAt.Sub(now), nil
		}
		if !s.place() {
			return 0, nil
		}
		first, ours, err := s.claim(ctx, d)
		if err == nil && ours {
			sending.Go(func() { s.attempt(ctx, first) })
			continue
		}
		<-s.places
		if err != nil {
			return 0, err
		}
	}
	if len(page) == pageSize {
		return 0, nil
	}
	return s.every, nil
}

// place waits for one of the few places; false: Close was called.
func (s *Sender) place() bool {
	select {
	case s.places <- struct{}{}:
	case <-s.quit:
		return false
	}
	select {
	case <-s.quit: // both were there, and select picks any
		<-s.places
		return false
	default:
		return true
	}
}

// page reads what is due before the next look, so that the first that is not due yet says
// when that will be.
func (s *Sender) page(ctx context.Context) ([]storage.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, longWait)
	defer cancel()
	return s.store.DueDeliveries(ctx, time.Now().Add(s.every), pageSize)
}

// backOff returns the pause until the next read of the store, which grows while the store fails.
// It logs the first failure and the recovery.
func (s *Sender) backOff(ctx context.Context, wait time.Duration, err error) time.Duration {
	switch {
	case err != nil && ctx.Err() == nil:
		if s.failurePause == 0 {
			s.log.ErrorContext(ctx, "webhooks are not delivered, because the store fails; they wait there", "error", err)
		}
		s.failurePause = min(max(2*s.failurePause, firstWait), longWait)
		return s.failurePause
	case err == nil && s.failurePause > 0:
		s.log.InfoContext(ctx, "webhooks are delivered again")
		s.failurePause = 0
	}
	return wait
}
