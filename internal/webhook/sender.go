package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/jobs"
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

	// Every is the interval of polling the store for events that another process queued and did not
	// send. Events of this process are sent after Wake. 0: 1 min; 1 s to 1 h.
	Every time.Duration

	// Queued receives when something may have become due in this process; nil: Wake says so.
	Queued <-chan struct{}

	// Compose makes the message of a delivery at each attempt; nil: the delivery's payload as JSON, to its URL.
	Compose func(ctx context.Context, d storage.Delivery) (Message, error)

	// Parallel bounds how many attempts are made at a time; 0: 4.
	Parallel int

	// Pause holds a delivery that has arrived in its place, so that its queue sends no more than one in
	// this time, whatever comes in.
	Pause time.Duration

	Log *slog.Logger // nil: slog.Default()
}

// Message is one attempt of a delivery.
type Message struct {
	URL         string // "": it is not wanted any more, and dropped
	ContentType string
	Body        []byte
	Secret      storage.Secret // none: it is not signed
	Timeout     time.Duration  // of the attempt; 0: 15 s
	Client      *http.Client   // that of another netguard.Guard; nil: that of the Config

	// Final reports the statuses after which there is no other attempt; nil: 410 alone, which means that nothing of
	// the kind is wanted.
	Final func(status int) bool
}

const (
	defaultEvery = time.Minute
	minEvery     = time.Second
	maxEvery     = time.Hour

	defaultParallel = 4
)

// Sender sends the deliveries that are due. Make it with New, end it with Close.
type Sender struct {
	store   Store
	client  *http.Client
	compose func(ctx context.Context, d storage.Delivery) (Message, error)
	pause   time.Duration
	log     *slog.Logger
	runner  *jobs.Runner[storage.Delivery]
	stop    context.CancelFunc // ends listen
	done    chan struct{}      // closed when listen has ended
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
	ctx, stop := context.WithCancel(context.Background())
	s := &Sender{store: c.Store, client: &client, compose: c.Compose, pause: c.Pause, log: c.Log, stop: stop,
		done: make(chan struct{})}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.compose == nil {
		s.compose = plain
	}
	s.runner = jobs.New(jobs.Queue[storage.Delivery]{
		Due: s.store.DueDeliveries, Wait: storage.Delivery.Wait, Claim: s.claim, Do: s.attempt, Every: c.Every,
		Parallel: c.Parallel, Log: s.log,
		Failing: "webhooks are not delivered, because the store fails; they wait there",
		Again:   "webhooks are delivered again",
	})
	s.runner.Start(context.Background())
	go s.listen(ctx, c.Queued)
	return s, nil
}

// listen looks for due deliveries whenever something was queued, until ctx ends.
func (s *Sender) listen(ctx context.Context, queued <-chan struct{}) {
	defer close(s.done)
	for {
		select {
		case <-queued:
			s.Wake()
		case <-ctx.Done():
			return
		}
	}
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
	if c.Parallel == 0 {
		c.Parallel = defaultParallel
	}
	if c.Every < minEvery || c.Every > maxEvery {
		errs = append(errs, fmt.Errorf("webhook: Config.Every is %v: choose %v to %v", c.Every, minEvery, maxEvery))
	}
	return errors.Join(errs...)
}

// Wake makes the Sender look for due deliveries now. It does not wait for anything.
func (s *Sender) Wake() { s.runner.Wake() }

// Close begins no more attempts and waits for those under way. When ctx ends first, they
// are cut off and the error says so: they count, and are repeated when their lease ends.
func (s *Sender) Close(ctx context.Context) error {
	s.stop()
	<-s.done
	if err := s.runner.Close(ctx); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}
