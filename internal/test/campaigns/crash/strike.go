package main

import (
	"context"
	"time"
)

// strike kills something: of a campaign without a database, its server. Else, drawn at random, a
// server, the database, a single process of the database, or a server and the database at once. A
// database is up again when strike returns.
func (c *campaign) strike(ctx context.Context) error {
	n := c.nodes
	n.kills++
	if n.database == nil {
		n.servers++
		n.all[0].kill()
		return nil
	}
	switch draw := c.rand.IntN(10); {
	case draw < 3:
		n.servers++
		c.strikeServers()
		return nil
	case draw < 4:
		n.processes++
		return n.database.KillOne(ctx, c.rand.IntN)
	case draw < 7:
		n.databases++
		return c.strikeDatabase(ctx)
	}
	n.both++
	first := c.rand.IntN(2) == 0
	if first {
		c.strikeServers()
	}
	err := c.strikeDatabase(ctx)
	if !first {
		c.strikeServers()
	}
	return err
}

// strikeServers kills one server, or all.
func (c *campaign) strikeServers() {
	one := c.rand.IntN(2 * len(c.nodes.all))
	for i, s := range c.nodes.all {
		if one == i || one >= len(c.nodes.all) {
			s.kill()
		}
	}
	c.nodes.killed = time.Now()
}

// outage is longer than a call of a server waits for its database.
const outage = 6 * time.Second

// strikeDatabase kills the database and starts it again: at once, or after a while, or after so long
// that everybody who waited has been told.
func (c *campaign) strikeDatabase(ctx context.Context) error {
	if err := c.nodes.database.Kill(); err != nil {
		return err
	}
	switch c.rand.IntN(16) {
	case 0:
		time.Sleep(outage)
	case 1, 2, 3, 4, 5:
		time.Sleep(c.upTo(time.Second))
	}
	return c.nodes.database.Start(ctx)
}
