package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/crash/internal/hooks"
	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// campaign is a number of lives of one data folder.
type campaign struct {
	options
	data     string
	rand     *rand.Rand
	journal  *journal
	trail    *trail
	receiver *hooks.Receiver
	postman  *postman
	clients  []client
	caller   *caller
	cookie   string
	entered  time.Time // when the cookie was given
	jwks     []byte
	starting time.Duration // what the last start has taken

	kills, amid, early, long int // all; with writes on their way; while it started; after minutes
}

// client works until the server is gone.
type client interface{ work(*life) }

// checker is a client that has more to ask the next life than about its things.
type checker interface{ check(*life) error }

const holders = 4

func newCampaign(o options, data string) (*campaign, error) {
	receiver, err := hooks.New()
	if err != nil {
		return nil, err
	}
	c := &campaign{
		options: o, data: data, rand: rand.New(rand.NewPCG(o.seed, 0)), journal: newJournal(), trail: newTrail(), receiver: receiver, caller: &caller{},
	}
	dice := func() *rand.Rand { return rand.New(rand.NewPCG(o.seed, uint64(len(c.clients)+1))) }
	for range holders {
		c.clients = append(c.clients, &holder{rand: dice()})
	}
	c.clients = append(c.clients, &registrar{rand: dice()})
	c.clients = append(c.clients, &secretRotator{rand: dice()})
	c.clients = append(c.clients, &buyer{rand: dice()})
	c.clients = append(c.clients, &member{rand: dice()})
	c.clients = append(c.clients, &truster{rand: dice()})
	c.clients = append(c.clients, &userDisabler{rand: dice()})
	c.clients = append(c.clients, &publisher{rand: dice(), receiver: receiver})
	c.postman = &postman{rand: dice()}
	c.clients = append(c.clients, c.postman)
	c.clients = append(c.clients, newSetter(c.journal), c.caller)
	return c, nil
}

// run lives and kills, and looks once more at the end.
func (c *campaign) run(ctx context.Context) error {
	for range c.cycles {
		if err := errors.Join(ctx.Err(), c.oneCycle(ctx)); err != nil || len(c.journal.violations) >= maxViolations {
			return err
		}
	}
	return c.stopGently()
}

// stopGently ends one more life by SIGTERM, under the caller's load: then the ledger is
// equal to what was answered. The life after it has told the receiver everything, verifies
// the whole trail, and is ended.
func (c *campaign) stopGently() error {
	s, l, err := c.begin()
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	working.Go(func() { c.caller.work(l) })
	time.Sleep(100 * time.Millisecond)
	l.doomed.Store(true)
	err = s.Signal(syscall.SIGTERM)
	working.Wait()
	l.close()
	if <-s.Ended; s.State().ExitCode() != 0 {
		c.journal.violated(nil, "SIGTERM ends the server with %v\n%s", s.State(), s.Log)
	}
	if err != nil {
		return err
	}
	if s, l, err = c.begin(); err != nil {
		return err
	}
	defer l.close()
	defer s.Kill()
	if missing := c.receiver.Wait(c.wait); len(missing) > 0 && c.wait >= lease {
		c.journal.violated(nil, "the receiver of webhooks was not told in %v of %s", c.wait, strings.Join(missing, "; "))
	}
	if missing := c.postman.wait(l, c.wait); len(missing) > 0 && c.wait >= mailLease {
		c.journal.violated(nil, "mails were promised and did not come in %v: to %s", c.wait, strings.Join(missing, ", "))
	}
	c.hear()
	return errors.Join(c.caller.reckon(l, true), c.trail.check(l), c.trail.verify(l))
}

// lease is the time that a delivery waits which a kill has cut off, until it is sent again, and a
// little more.
const lease = 75 * time.Second

const maxViolations = 20

// oneCycle is a life, a kill, and the check of the next life. That ends by a kill too: the
// check's own writes are in the journal like any others.
func (c *campaign) oneCycle(ctx context.Context) error {
	c.journal.cycle++
	s, l, err := c.begin()
	if err != nil {
		return err
	}
	c.live(ctx, s, l)
	if err := c.killEarly(); err != nil {
		return err
	}
	if s, l, err = c.begin(); err != nil {
		return err
	}
	defer l.close()
	defer func() { s.Kill(); c.kills++ }()
	if err := c.check(l); err != nil {
		return fmt.Errorf("the check: %w\n%s", err, s.Log)
	}
	if said := complaints(s.Log.String()); said != "" {
		c.journal.violated(nil, "the server complains: %s", said)
	}
	return nil
}

// check asks a new life about everything that is known. What the checkers know is asked
// first, before questions about things change it.
func (c *campaign) check(l *life) error {
	err := c.trail.check(l)
	for _, client := range c.clients {
		if asks, ok := client.(checker); ok && err == nil {
			err = asks.check(l)
		}
	}
	if err == nil {
		err = c.journal.check(l, c.rand)
	}
	c.hear()
	return err
}

// hear notes what the receiver of webhooks complains of.
func (c *campaign) hear() {
	for _, wrong := range c.receiver.Check() {
		c.journal.violated(nil, "the receiver of webhooks %s", wrong)
	}
}

// command is the server. A second use of a code or a token is asked about for a day.
func (c *campaign) command() *exec.Cmd {
	return exec.Command(c.binary, serving.Args(c.data, "--lifetimes-code", "24h", "--reuse-leeway-code", "24h", "--reuse-leeway-refresh", "24h",
		"--signup", "open", "--trusted-proxies", "127.0.0.1", "--upstreams-allow-private", "127.0.0.1")...)
}

// begin starts the server and sees that it is who it was: the same keys, the session.
func (c *campaign) begin() (*serving.Server, *life, error) {
	began := time.Now()
	s, err := serving.Start(c.command())
	c.starting = time.Since(began)
	if err != nil {
		c.journal.violated(nil, "%v", err)
		return nil, nil, err
	}
	l := newLife(newWire(c.journal, s.Address, c.data), c.data, c.trail)
	if err := c.meet(l); err != nil {
		s.Kill()
		return nil, nil, err
	}
	return s, l, nil
}

func (c *campaign) meet(l *life) (err error) {
	if l.firstRun, err = readFirstRun(c.data); err != nil {
		return err
	}
	keys, err := l.get("/oauth/jwks")
	if err != nil {
		return err
	}
	if c.jwks == nil {
		c.jwks = keys.body
		if err := prepare(l); err != nil {
			return err
		}
	}
	if time.Since(c.entered) > recently {
		if c.cookie, _, err = signIn(l.wire, l.Admin.Username, l.Admin.Password); err != nil {
			return err
		}
		c.entered = time.Now()
	}
	if !bytes.Equal(c.jwks, keys.body) {
		c.journal.violated(nil, "the keys were %s and are %s", c.jwks, keys.body)
	}
	l.cookie = c.cookie
	return nil
}

// prepare makes the server one that everybody here can use: no rate slows the clients down,
// and applications see the tools of the bus, which strangers could be where anybody signs up.
func prepare(l *life) error {
	app, err := l.run("app set", []string{"tier", "enterprise"}, l.App.ID)
	if err != nil {
		return err
	}
	access, err := l.run("setting set", nil, storage.SettingDefaultAccess, storage.AccessEveryone)
	if err == nil && app.Error+access.Error != "" {
		err = errors.New(app.Error + access.Error)
	}
	return err
}

// recently bounds the age of the administrator's sign-in: what cannot be taken back wants
// one of the last ten minutes, and a life may be of more than two.
const recently = 6 * time.Minute

// live lets the clients work and kills the server under them.
func (c *campaign) live(ctx context.Context, s *serving.Server, l *life) {
	defer l.close()
	var working sync.WaitGroup
	for _, client := range c.clients {
		working.Go(func() { client.work(l) })
	}
	select {
	case <-time.After(c.span()):
	case <-ctx.Done():
	case <-s.Ended:
		c.journal.violated(nil, "the server ends by itself: %v\n%s", s.State(), s.Log)
	}
	l.doomed.Store(true)
	s.Kill()
	working.Wait()
	c.kills++
	if l.cut.Load() > 0 {
		c.amid++
	}
	if said := s.Log.String(); said != "" {
		c.journal.violated(nil, "the server complains: %s", said)
	}
}

// span draws how long a life lasts. A long one meets what happens each minute.
func (c *campaign) span() time.Duration {
	if c.longOnes > 0 && c.rand.IntN(c.longOnes) == 0 {
		c.long++
		return 61*time.Second + c.upTo(89*time.Second)
	}
	most := 350 * time.Millisecond
	if c.rand.IntN(6) == 0 { // for what takes several steps
		most = 2 * time.Second
	}
	return time.Duration(float64(50*time.Millisecond+c.upTo(most)) * c.slowness())
}

// slowness is the factor by which this machine takes longer than an idle one to start a server: on
// one that has other work to do, lives are longer, so that as much happens in them.
func (c *campaign) slowness() float64 {
	return min(max(float64(c.starting)/float64(usualStart), 1), 8)
}

const usualStart = 60 * time.Millisecond

// killEarly kills servers at random moments of their start, a few at times.
func (c *campaign) killEarly() error {
	for c.rand.IntN(3) == 0 {
		s, err := serving.Launch(c.command())
		if err != nil {
			return err
		}
		time.Sleep(c.upTo(c.starting + c.starting/4))
		s.Kill()
		c.kills++
		c.early++
	}
	return nil
}

func (c *campaign) upTo(d time.Duration) time.Duration { return time.Duration(c.rand.Int64N(int64(d))) }
