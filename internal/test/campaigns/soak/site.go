package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/keystile/keystile/internal/test/campaigns/balancer"
	"github.com/keystile/keystile/internal/test/pgserver"
	"github.com/keystile/keystile/storage"
)

// site is everything that runs: nodes, their database, what they call, and the balancer.
type site struct {
	options
	dir      string
	key      string           // the master key of all nodes
	database *pgserver.Server // nil: bolt
	counter  *counter         // nil: each node counts alone
	upstream *upstream
	mails    *mailServer
	nodes    []*node
	balancer *balancer.Balancer
}

func newSite(ctx context.Context, o options, dir string) (*site, error) {
	s := &site{options: o, dir: dir, key: storage.NewMasterKey().Text()}
	if err := s.build(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) build(ctx context.Context) (err error) {
	if s.storage == "postgres" {
		if s.database, err = pgserver.New(ctx); err != nil {
			return err
		}
	}
	if s.options.redis && s.storage == "postgres" {
		if s.counter, err = newCounter(s.dir); err != nil {
			return err
		}
	}
	if s.upstream, err = newUpstream(); err != nil {
		return err
	}
	if s.mails, err = newMailServer(); err != nil {
		return err
	}
	var addresses []string
	for i := range s.options.nodes {
		n := &node{site: s, id: i, data: filepath.Join(s.dir, fmt.Sprintf("node-%d", i))}
		if n.address, err = freeAddress(); err == nil {
			n.admin, err = freeAddress()
		}
		if err == nil {
			err = os.Mkdir(n.data, 0o700)
		}
		if err == nil {
			err = n.start(ctx)
		}
		if err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
		addresses = append(addresses, n.address)
	}
	s.balancer = balancer.New(addresses...)
	return s.allReady(ctx)
}

// allReady waits until the balancer takes all nodes for ready.
func (s *site) allReady(ctx context.Context) error {
	return until(ctx, comeBack, func() error {
		for i := range s.nodes {
			if !s.balancer.Ready(i) {
				return fmt.Errorf("node %d is not ready", i)
			}
		}
		return nil
	})
}

// freeAddress is one that nobody listens on. Each node keeps its own over restarts.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// close ends everything.
func (s *site) close() (err error) {
	if s.balancer != nil {
		s.balancer.Close()
	}
	for _, n := range s.nodes {
		n.close()
	}
	if s.counter != nil {
		s.counter.close()
	}
	if s.upstream != nil {
		s.upstream.close()
	}
	if s.mails != nil {
		s.mails.close()
	}
	if s.database != nil {
		err = s.database.Close()
	}
	return err
}

// saveLogs writes what the nodes have said into a folder.
func (s *site) saveLogs(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	for _, n := range s.nodes {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "node-"+strconv.Itoa(n.id)), []byte(n.said()), 0o600))
	}
	return err
}

// tool runs a command of the binary that is for operators, beside node 0 and with its settings.
func (s *site) tool(ctx context.Context, args ...string) (string, error) {
	n := s.nodes[0]
	cmd := exec.CommandContext(ctx, s.binary, append(args, "--data", n.data, "--storage-url", n.storageURL())...)
	cmd.Env = s.environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *site) environment() []string {
	return append(os.Environ(), "KEYSTILE_MASTER_KEY="+s.key)
}
