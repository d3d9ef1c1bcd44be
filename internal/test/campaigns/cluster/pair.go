package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"syscall"

	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/link"
	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/netns"
	"github.com/keystile/keystile/internal/test/pgserver"
)

// pair is a PostgreSQL server and the synchronous standby that takes its place.
//
// synchronous_commit is on: an answer waits until the standby has the commit on its disk, and a standby
// applies all of that before it becomes the primary. remote_apply would wait until the standby has
// applied it as well, which matters only to readers there, and there are none.
type pair struct {
	members [2]*pgserver.Server
	spaces  [2]*netns.Space
	ways    [2]*link.Link // to a member from the other one
	primary int
}

// names are those of the members.
var names = [2]string{"a", "b"}

func newPair(ctx context.Context, s *site) (*pair, error) {
	p := &pair{}
	for i := range p.members {
		space, host, err := s.space()
		if err != nil {
			return p, err
		}
		p.spaces[i] = space
		number, err := port(space, host)
		if err != nil {
			return p, err
		}
		p.members[i], err = pgserver.Make(pgserver.Place{Host: host, Port: number, Inside: space.Do, Settings: []string{
			"max_connections=200", "wal_keep_size=1GB", "wal_log_hints=on", "max_wal_senders=10", "hot_standby=on",
			"wal_receiver_timeout=5s", "wal_sender_timeout=5s", "wal_retrieve_retry_interval=200ms",
		}})
		if err != nil {
			return p, err
		}
		if p.ways[i], err = s.link(p.members[i].Address()); err != nil {
			return p, err
		}
	}
	first := p.members[0]
	if err := errors.Join(first.Init(ctx), first.Start(ctx)); err != nil {
		return p, err
	}
	return p, p.rebuild(ctx, false)
}

func (p *pair) now() *pgserver.Server     { return p.members[p.primary] }
func (p *pair) standby() *pgserver.Server { return p.members[1-p.primary] }

// conninfo is the way to the primary for its standby.
func (p *pair) conninfo() string { return conninfo(p.ways[p.primary].Address()) }

func conninfo(address string) string {
	host, port, _ := net.SplitHostPort(address) // it is one of ours
	return "host=" + host + " port=" + port
}

// rebuild makes the other member, which does not run, the standby of the primary, and has answers wait
// for it: from what it has, if it may be rewound, else from a copy.
func (p *pair) rebuild(ctx context.Context, rewind bool) error {
	name := names[1-p.primary]
	err := errors.New("not asked for")
	if rewind {
		err = p.standby().Rewind(ctx, p.now(), p.conninfo(), name)
	}
	if err != nil {
		err = p.standby().Follow(ctx, p.conninfo(), name)
	}
	if err != nil {
		return fmt.Errorf("a standby is made: %w", err)
	}
	return errors.Join(p.now().Demand(ctx, name), p.now().Synchronous(ctx))
}

// failover makes the standby the primary. The old one is killed first, as whoever promotes has to make
// sure, or both of them would answer.
func (p *pair) failover(ctx context.Context) error {
	if err := p.now().Kill(); err != nil {
		return err
	}
	p.primary = 1 - p.primary
	return p.now().Promote(ctx)
}

func (p *pair) close() (err error) {
	for _, m := range p.members {
		if m != nil {
			err = errors.Join(err, m.Close())
		}
	}
	return err
}

// asNobody has a program run as the user of PostgreSQL, if the test is root: PgBouncer does not want to
// be root either.
func asNobody(cmd *exec.Cmd) error {
	who, err := pgserver.User()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	return err
}
