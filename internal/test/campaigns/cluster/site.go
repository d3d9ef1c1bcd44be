package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/balancer"
	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/link"
	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/netns"
	"github.com/keystile/keystile/storage"
)

// site is everything that runs: nodes, their databases, what stands between, and the balancer.
type site struct {
	options
	dir      string
	net      *netns.Net // nil: all are on loopback
	key      string     // the master key of all nodes
	pair     *pair
	bouncer  *bouncer
	redis    *counter
	nodes    []*node
	balancer *balancer.Balancer
	front    *http.Server
	address  string // of the balancer
	links    []*link.Link
}

// newSite starts everything, and waits until all nodes are ready.
func newSite(ctx context.Context, o options, dir string, r *rand.Rand) (*site, error) {
	s := &site{options: o, dir: dir, key: storage.NewMasterKey().Text()}
	err := s.build(ctx, r)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) build(ctx context.Context, r *rand.Rand) (err error) {
	if !s.loopback {
		if s.net, err = netns.New(r.IntN); err != nil {
			fmt.Printf("note: no network namespaces, all is on loopback: %v\n", err)
			s.net = nil
		}
	}
	if s.pair, err = newPair(ctx, s); err != nil {
		return err
	}
	if s.bouncer, err = newBouncer(s); err != nil {
		return err
	}
	if s.options.redis {
		if s.redis, err = newCounter(s); err != nil {
			return err
		}
	}
	for i := range s.options.nodes {
		n, err := newNode(s, i)
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
		if err := errors.Join(n.start(), n.await(ctx, time.Now())); err != nil {
			return err
		}
	}
	return s.openFront()
}

// openFront starts the balancer.
func (s *site) openFront() error {
	var fronts []string
	for _, n := range s.nodes {
		fronts = append(fronts, n.front.Address())
	}
	s.balancer = balancer.New(fronts...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.address = listener.Addr().String()
	s.front = &http.Server{Handler: s.balancer, ReadHeaderTimeout: time.Minute}
	go s.front.Serve(listener)
	return nil
}

// host is the address of the test, at which all links begin.
func (s *site) host() string {
	if s.net == nil {
		return "127.0.0.1"
	}
	return s.net.Host()
}

// space is a place for one more program, and its address.
func (s *site) space() (*netns.Space, string, error) {
	if s.net == nil {
		return nil, "127.0.0.1", nil
	}
	space, err := s.net.Space()
	if err != nil {
		return nil, "", err
	}
	return space, space.Host, nil
}

// port is a free one.
func port(space *netns.Space, host string) (n int, err error) {
	err = space.Do(func() error {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			return err
		}
		n = l.Addr().(*net.TCPAddr).Port
		return l.Close()
	})
	return n, err
}

// link makes a way to an address.
func (s *site) link(to string) (*link.Link, error) {
	l, err := link.New(s.host()+":0", to)
	if err == nil {
		s.links = append(s.links, l)
	}
	return l, err
}

// close ends everything.
func (s *site) close() (err error) {
	if s.front != nil {
		err = errors.Join(s.front.Close())
		s.balancer.Close()
	}
	for _, n := range s.nodes {
		err = errors.Join(err, n.close())
	}
	if s.redis != nil {
		s.redis.close()
	}
	if s.bouncer != nil {
		s.bouncer.close()
	}
	if s.pair != nil {
		err = errors.Join(err, s.pair.close())
	}
	for _, l := range s.links {
		err = errors.Join(err, l.Close())
	}
	if s.net != nil {
		err = errors.Join(err, s.net.Close())
	}
	return err
}

// saveLogs writes what the programs have said into a folder.
func (s *site) saveLogs(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var err error
	for _, n := range s.nodes {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "node-"+strconv.Itoa(n.id)), []byte(n.said()), 0o600))
	}
	for i, m := range s.pair.members {
		text, failed := os.ReadFile(m.Log())
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(dir, "postgres-"+names[i]), text, 0o600))
	}
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "pgbouncer"), []byte(s.bouncer.said.String()), 0o600))
}
