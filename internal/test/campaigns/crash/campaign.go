package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/crash/internal/hooks"
	"github.com/keystile/keystile/internal/test/campaigns/feedwatch"
	"github.com/keystile/keystile/storage"
)

// campaign is a number of lives of one data folder, or of several that share a database.
type campaign struct {
	options
	nodes    *nodes
	watcher  *feedwatch.Watcher // nil: there is no database
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

	amid, early, long int // kills with writes on their way; while it started; after minutes
	away              int // requests that were answered 503 because of a kill
}

// client works until the server is gone.
type client interface{ work(*life) }

// checker is a client that has more to ask the next life than about its things.
type checker interface{ check(*life) error }

const holders = 4

func newCampaign(ctx context.Context, o options, data string) (*campaign, error) {
	receiver, err := hooks.New()
	if err != nil {
		return nil, err
	}
	nodes, err := newNodes(ctx, o, data)
	if err != nil {
		return nil, errors.Join(err, receiver.Close())
	}
	c := &campaign{
		options: o, nodes: nodes, rand: rand.New(rand.NewPCG(o.seed, 0)), journal: newJournal(), trail: newTrail(),
		receiver: receiver, caller: &caller{},
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

// close ends what the campaign has started.
func (c *campaign) close() error {
	c.watcher.Close()
	return errors.Join(c.nodes.close(), c.receiver.Close())
}

// run lives and kills, and looks once more at the end.
func (c *campaign) run(ctx context.Context) error {
	for range c.cycles {
		if err := errors.Join(ctx.Err(), c.oneCycle(ctx)); err != nil || len(c.journal.violations) >= maxViolations {
			return err
		}
	}
	return c.stopGently(ctx)
}

// stopGently ends one more life by SIGTERM, under the caller's load: then the ledger is
// equal to what was answered. The life after it has told the receiver everything, verifies
// the whole trail, and is ended.
func (c *campaign) stopGently(ctx context.Context) error {
	l, err := c.begin(ctx)
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	working.Go(func() { c.caller.work(l) })
	time.Sleep(100 * time.Millisecond)
	l.doomed.Store(true)
	l.over.Store(true)
	for _, s := range c.nodes.all {
		err = errors.Join(err, s.Signal(syscall.SIGTERM))
	}
	working.Wait()
	l.close()
	for _, s := range c.nodes.all {
		if <-s.Ended; s.State().ExitCode() != 0 {
			c.journal.violated(nil, "SIGTERM ends the server with %v\n%s", s.State(), s.Log)
		}
		s.up = false
	}
	if err != nil {
		return err
	}
	if l, err = c.begin(ctx); err != nil {
		return err
	}
	defer l.close()
	if missing := c.receiver.Wait(c.wait); len(missing) > 0 && c.wait >= lease {
		c.journal.violated(nil, "the receiver of webhooks was not told in %v of %s", c.wait, strings.Join(missing, "; "))
	}
	if missing := c.postman.wait(l, c.wait); len(missing) > 0 && c.wait >= mailLease {
		c.journal.violated(nil, "mails were promised and did not come in %v: to %s", c.wait, strings.Join(missing, ", "))
	}
	c.hear()
	return errors.Join(c.caller.reckon(l, true), c.trail.check(l), c.trail.verify(l), c.watch(ctx))
}

// lease is the time that a delivery waits which a kill has cut off, until it is sent again, and a
// little more.
const lease = 75 * time.Second

const maxViolations = 20

// oneCycle is a life, a kill, and the check of the next life. That ends by a kill too: the
// check's own writes are in the journal like any others.
func (c *campaign) oneCycle(ctx context.Context) error {
	c.journal.cycle++
	l, err := c.begin(ctx)
	if err != nil {
		return err
	}
	if err := c.live(ctx, l); err != nil {
		return err
	}
	if err := c.killEarly(ctx); err != nil {
		return err
	}
	if l, err = c.begin(ctx); err != nil {
		return err
	}
	defer l.close()
	if err := c.check(l); err != nil {
		return fmt.Errorf("the check: %w\n%s", err, c.nodes.all[0].Log)
	}
	c.hearServers()
	return c.strike(ctx)
}

// hearServers notes what the servers complain of.
func (c *campaign) hearServers() {
	if said := c.nodes.complaints(); said != "" {
		c.journal.violated(nil, "the server complains: %s", said)
	}
}

// check asks a new life about everything that is known. The facts that the checkers know are asked
// first, before questions about things change them.
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
	if err == nil {
		err = c.watch(context.Background())
	}
	c.hear()
	return err
}

// watch notes what the watcher of the feeds complains of.
func (c *campaign) watch(ctx context.Context) error {
	wrong, err := c.watcher.Check(ctx)
	for _, w := range wrong {
		c.journal.violated(nil, "%s", w)
	}
	return err
}

// hear notes what the receiver of webhooks complains of.
func (c *campaign) hear() {
	for _, wrong := range c.receiver.Check() {
		c.journal.violated(nil, "the receiver of webhooks %s", wrong)
	}
}

// begin starts the servers that do not run and sees that they are who they were: the same keys, the
// session.
func (c *campaign) begin(ctx context.Context) (*life, error) {
	began := time.Now()
	err := c.nodes.start(ctx)
	c.starting = time.Since(began)
	if err != nil {
		c.journal.violated(nil, "%v", err)
		return nil, err
	}
	if c.watcher == nil && c.nodes.database != nil {
		if c.watcher, err = feedwatch.New(ctx, c.nodes.database.URL()); err != nil {
			return nil, err
		}
	}
	l := newLife(c.nodes.wire(c.journal), c.nodes.mails(), c.trail)
	if err := c.meet(l); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (c *campaign) meet(l *life) (err error) {
	if l.firstRun, err = readFirstRun(c.nodes.all[0].data); err != nil {
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
