package main

import (
	"context"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// live lets the clients work and kills something under them. While the database is away they go on, each
// until it is told.
func (c *campaign) live(ctx context.Context, l *life) (err error) {
	defer l.close()
	var working sync.WaitGroup
	for _, client := range c.clients {
		working.Go(func() { client.work(l) })
	}
	select {
	case <-time.After(c.span()):
	case <-ctx.Done():
	}
	for _, s := range c.nodes.all {
		select {
		case <-s.Ended:
			c.journal.violated(nil, "the server ends by itself: %v\n%s", s.State(), s.Log)
		default:
		}
	}
	l.doomed.Store(true)
	l.over.Store(c.nodes.database == nil)
	if err = c.strike(ctx); c.nodes.database != nil {
		time.Sleep(c.upTo(300 * time.Millisecond)) // who was not told goes on with what is there again
	}
	l.over.Store(true)
	working.Wait()
	c.away += int(l.away.Load())
	if l.cut.Load()+l.away.Load() > 0 {
		c.amid++
	}
	c.hearServers()
	return err
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
// one that has other work to do, lives are longer, so that as much happens in them. With a database
// a start waits for other things too, and tells nothing.
func (c *campaign) slowness() float64 {
	if c.nodes.database != nil {
		return 2
	}
	return min(max(float64(c.starting)/float64(usualStart), 1), 8)
}

const usualStart = 60 * time.Millisecond

// killEarly kills servers at random moments of their start, a few at times, and their database.
func (c *campaign) killEarly(ctx context.Context) error {
	for _, s := range c.nodes.all {
		for !s.up && c.rand.IntN(3) == 0 {
			starting, err := serving.Launch(c.nodes.command(s))
			if err != nil {
				return err
			}
			time.Sleep(c.upTo(min(c.starting+c.starting/4, time.Second)))
			if c.nodes.database != nil && c.rand.IntN(3) == 0 {
				err = c.strikeDatabase(ctx)
				c.nodes.databases++
			}
			starting.Kill()
			c.nodes.killed = time.Now()
			c.nodes.kills++
			c.early++
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *campaign) upTo(d time.Duration) time.Duration { return time.Duration(c.rand.Int64N(int64(d))) }
