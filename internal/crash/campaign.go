package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// campaign is a number of lives of one data folder.
type campaign struct {
	options
	data    string
	rand    *rand.Rand
	journal *journal
	clients []client
	caller  *caller
	cookie  string
	jwks    []byte

	kills, amid, early int // all; with writes on their way; while it started
}

// client works until the server is gone.
type client interface{ work(*life) }

const holders = 6

func newCampaign(o options, data string) *campaign {
	c := &campaign{options: o, data: data, rand: rand.New(rand.NewPCG(o.seed, 0)), journal: newJournal(), caller: &caller{}}
	for i := range uint64(holders) {
		c.clients = append(c.clients, &holder{rand: rand.New(rand.NewPCG(o.seed, i+1))})
	}
	c.clients = append(c.clients, &registrar{rand: rand.New(rand.NewPCG(o.seed, holders+1))}, newSetter(c.journal), c.caller)
	return c
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
// equal to what was answered.
func (c *campaign) stopGently() error {
	s, l, err := c.begin()
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	working.Go(func() { c.caller.work(l) })
	time.Sleep(100 * time.Millisecond)
	l.doomed.Store(true)
	err = s.cmd.Process.Signal(syscall.SIGTERM)
	working.Wait()
	l.close()
	if <-s.ended; s.cmd.ProcessState.ExitCode() != 0 {
		c.journal.violated(nil, "SIGTERM ends the server with %v\n%s", s.cmd.ProcessState, s.log)
	}
	if err != nil {
		return err
	}
	if s, l, err = c.begin(); err != nil {
		return err
	}
	defer l.close()
	defer s.kill()
	return c.caller.check(l, true)
}

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
	defer func() { s.kill(); c.kills++ }()
	if err := c.caller.check(l, false); err != nil {
		return fmt.Errorf("the ledger: %w\n%s", err, s.log)
	}
	if err := c.journal.check(l, c.rand); err != nil {
		return fmt.Errorf("the check: %w\n%s", err, s.log)
	}
	if said := s.log.String(); said != "" {
		c.journal.violated(nil, "the server complains: %s", said)
	}
	return nil
}

// begin starts the server and sees that it is who it was: the same keys, the session.
func (c *campaign) begin() (*server, *life, error) {
	s, err := start(c.binary, c.data)
	if err != nil {
		c.journal.violated(nil, "%v", err)
		return nil, nil, err
	}
	l := &life{wire: newWire(c.journal, s.address, c.data)}
	if err := c.meet(l); err != nil {
		s.kill()
		return nil, nil, err
	}
	return s, l, nil
}

func (c *campaign) meet(l *life) (err error) {
	if l.paper, err = readPaper(c.data); err != nil {
		return err
	}
	keys, err := l.get("/oauth/jwks", "", "")
	if err != nil {
		return err
	}
	if c.jwks == nil {
		c.jwks = keys.body
		if _, err := l.run("app set", []string{"tier", "enterprise"}, l.App.ID); err != nil { // no rate is to slow the clients down
			return err
		}
		if c.cookie, _, err = signIn(l.wire, l.Admin.Username, l.Admin.Password); err != nil {
			return err
		}
	}
	if !bytes.Equal(c.jwks, keys.body) {
		c.journal.violated(nil, "the keys were %s and are %s", c.jwks, keys.body)
	}
	l.cookie = c.cookie
	return nil
}

// live lets the clients work and kills the server under them.
func (c *campaign) live(ctx context.Context, s *server, l *life) {
	defer l.close()
	var working sync.WaitGroup
	for _, client := range c.clients {
		working.Go(func() { client.work(l) })
	}
	select {
	case <-time.After(50*time.Millisecond + c.upTo(350*time.Millisecond)):
	case <-ctx.Done():
	case <-s.ended:
		c.journal.violated(nil, "the server ends by itself: %v\n%s", s.cmd.ProcessState, s.log)
	}
	l.doomed.Store(true)
	s.kill()
	working.Wait()
	c.kills++
	if l.cut.Load() > 0 {
		c.amid++
	}
	if said := s.log.String(); said != "" {
		c.journal.violated(nil, "the server complains: %s", said)
	}
}

// killEarly sometimes kills a server that has not yet begun to listen.
func (c *campaign) killEarly() error {
	if c.rand.IntN(4) != 0 {
		return nil
	}
	s, says, err := launch(c.binary, c.data)
	if err != nil {
		return err
	}
	defer says.Close()
	time.Sleep(c.upTo(30 * time.Millisecond))
	s.kill()
	c.kills++
	c.early++
	return nil
}

func (c *campaign) upTo(d time.Duration) time.Duration { return time.Duration(c.rand.Int64N(int64(d))) }
