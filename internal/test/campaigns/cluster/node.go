package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/bentclock"
	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/link"
	"github.com/keystile/keystile/internal/test/campaigns/cluster/internal/netns"
	"github.com/keystile/keystile/internal/test/serving"
)

// node is one keystile, the ways to it and the ways that it goes.
type node struct {
	*serving.Server
	site                 *site
	id                   int
	space                *netns.Space
	data                 string
	address, admin       string // of its listeners
	binary               string // that the next start runs
	clock                *bentclock.Clock
	socket               *http.Client // of its administrators
	mounted              bool         // the data folder is a file system of its own
	front, pooled, redis *link.Link
	direct               [2]*link.Link // to the members of the pair
	past                 strings.Builder
	started              func() // is told of each start; nil: of none
}

// folder is the size of the file system that a data folder is.
const folder = 32 << 20

func newNode(s *site, id int) (*node, error) {
	n := &node{site: s, id: id, data: filepath.Join(s.dir, fmt.Sprintf("node-%d", id)), binary: s.binary}
	n.socket = serving.AdminClient(n.data, patience)
	space, host, err := s.space()
	if err != nil {
		return nil, err
	}
	n.space = space
	for _, at := range []*string{&n.address, &n.admin} {
		number, err := port(space, host)
		if err != nil {
			return nil, err
		}
		*at = host + ":" + strconv.Itoa(number)
	}
	if err := os.Mkdir(n.data, 0o700); err != nil {
		return nil, err
	}
	n.mounted = mount(n.data, folder) == nil
	clocks := n.data + "-clock"
	if err := os.Mkdir(clocks, 0o700); err != nil {
		return nil, err
	}
	if n.clock, err = bentclock.New(clocks); err != nil {
		return nil, err
	}
	ways := map[**link.Link]string{&n.front: n.address, &n.pooled: s.bouncer.address(),
		&n.direct[0]: s.pair.members[0].Address(), &n.direct[1]: s.pair.members[1].Address()}
	if s.redis != nil {
		ways[&n.redis] = s.redis.address()
	}
	for into, to := range ways {
		if *into, err = s.link(to); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// storage is the address of the database. Every second node goes through PgBouncer, and listens past
// it; the others name both members and find the one that takes writes.
func (n *node) storage() string {
	both := fmt.Sprintf("postgres://keystile@%s,%s/postgres?sslmode=disable", n.direct[0].Address(), n.direct[1].Address())
	if n.id%2 == 1 {
		return both
	}
	return fmt.Sprintf("postgres://keystile@%s/postgres?sslmode=disable&listen=%s", n.pooled.Address(),
		url.QueryEscape(both))
}

// Settings of all nodes. A second use of a code or a token is asked about for a day. A node that cannot
// read what others revoke says so after staleAfter.
const (
	staleAfter = 3 * time.Second
	drain      = time.Second
)

func (n *node) command() *exec.Cmd {
	proxies := "127.0.0.1"
	if n.space != nil {
		proxies += "," + n.site.host()
	}
	args := []string{
		"serve", "--data", n.data, "--listen", n.address, "--admin-listen", n.admin, "--base-url", serving.Issuer,
		"--log-level", "warn",
		"--log-requests", "false", "--limits-per-ip", "1000000000", "--storage-url", n.storage(), "--storage-stale-after",
		staleAfter.String(),
		"--lifetimes-code", "24h", "--reuse-leeway-code", "24h", "--reuse-leeway-refresh", "24h",
		"--signup", "open", "--trusted-proxies", proxies, "--upstreams-allow-private", "127.0.0.1", "--node-name",
		"node-" + strconv.Itoa(n.id),
		"--drain", drain.String(),
	}
	if n.redis != nil {
		args = append(args, "--redis-url", "redis://"+n.redis.Address())
	}
	cmd := exec.Command(n.binary, args...)
	cmd.Env = append(os.Environ(), "KEYSTILE_MASTER_KEY="+n.site.key, n.clock.Variable(), "GOMAXPROCS=2")
	return cmd
}

// start starts the node, and waits for nothing.
func (n *node) start() (err error) {
	n.note()
	if n.started != nil {
		n.started()
	}
	return n.space.Do(func() error {
		n.Server, err = serving.Launch(n.command())
		return err
	})
}

// note keeps what the last process has said.
func (n *node) note() {
	if n.Server != nil {
		n.past.WriteString(n.Log.String())
		fmt.Fprintf(&n.past, "--- it has ended: %v\n", n.State())
	}
}

// said is all that the node has ever said.
func (n *node) said() string {
	if n.Server == nil {
		return ""
	}
	return n.past.String() + n.Log.String()
}

// runs reports whether the process is there.
func (n *node) runs() bool {
	if n.Server == nil {
		return false
	}
	select {
	case <-n.Ended:
		return false
	default:
		return true
	}
}

func (n *node) close() error {
	if n.runs() {
		n.Signal(syscall.SIGCONT)
		n.Kill()
	}
	if n.mounted {
		return unmount(n.data)
	}
	return nil
}

// comeBack is the time within which everything works again once nothing is wrong.
const comeBack = 30 * time.Second

var plain = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// await waits until the node says that it is ready, and has read all that was there at a time.
func (n *node) await(ctx context.Context, since time.Time) error {
	for end := time.Now().Add(comeBack); ; time.Sleep(20 * time.Millisecond) {
		resp, err := plain.Get("http://" + n.address + "/healthz/ready")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				err = errors.New(resp.Status)
			}
		}
		if err == nil {
			err = n.hasRead(since)
		}
		if err == nil {
			return nil
		}
		if !n.runs() {
			return fmt.Errorf("node %d ends by itself: %v\n%s", n.id, n.State(), n.Log)
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("nothing is wrong any more, and node %d is not ready after %v: %w\n%s", n.id, comeBack,
				errors.Join(err, ctx.Err()), n.Log)
		}
	}
}

// feedAge finds the age of the last whole read of what other nodes have written.
var feedAge = regexp.MustCompile(`(?m)^keystile_feed_age_seconds ([0-9.e+-]+)$`)

func (n *node) hasRead(since time.Time) error {
	asked := time.Now()
	resp, err := plain.Get("http://" + n.admin + "/metrics")
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	found := feedAge.FindSubmatch(text)
	if err != nil || found == nil {
		return fmt.Errorf("node %d does not say how old its feed is: %s, %w", n.id, resp.Status, err)
	}
	age, err := strconv.ParseFloat(string(found[1]), 64)
	if err == nil && !asked.Add(-time.Duration(age*float64(time.Second))).After(since) {
		err = fmt.Errorf("node %d has read nothing for %.1f s", n.id, age)
	}
	return err
}
