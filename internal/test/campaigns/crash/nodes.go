package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/pgserver"
	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// node is one server with a data folder of its own.
type node struct {
	data string
	*serving.Server
	up bool
}

// nodes are the servers of a campaign, and the database that they share; without one there is a
// single server, whose store is in its folder.
type nodes struct {
	all      []*node
	binary   string
	database *pgserver.Server
	key      string    // the master key of all
	killed   time.Time // a server, for the last time

	kills, servers, databases, processes, both int // all; of what
}

// newNodes makes the folders' names, and starts the database if there is to be one.
func newNodes(ctx context.Context, o options, dir string) (*nodes, error) {
	n := &nodes{binary: o.binary, all: []*node{{data: dir}}, key: storage.NewMasterKey().Text()}
	for i := 1; i < o.nodes; i++ {
		n.all = append(n.all, &node{data: fmt.Sprintf("%s-%d", dir, i+1)})
	}
	var err error
	switch o.storage {
	case "bolt":
		if o.nodes > 1 {
			err = errors.New("--nodes: several servers need --storage postgres")
		}
	case "postgres":
		n.database, err = pgserver.New(ctx)
	default:
		err = fmt.Errorf("--storage %s: there are bolt and postgres", o.storage)
	}
	return n, err
}

// close ends what still runs.
func (n *nodes) close() error {
	for _, s := range n.all {
		s.kill()
	}
	if n.database == nil {
		return nil
	}
	return n.database.Close()
}

// command is a server. A second use of a code or a token is asked about for a day.
func (n *nodes) command(s *node) *exec.Cmd {
	args := serving.Args(s.data, "--lifetimes-code", "24h", "--reuse-leeway-code", "24h", "--reuse-leeway-refresh", "24h",
		"--signup", "open", "--trusted-proxies", "127.0.0.1", "--upstreams-allow-private", "127.0.0.1")
	if n.database != nil {
		args = append(args, "--storage-url", n.database.URL(), "--admin-listen", "127.0.0.1:0")
	}
	cmd := exec.Command(n.binary, args...)
	cmd.Env = append(os.Environ(), "KEYSTILE_MASTER_KEY="+n.key)
	return cmd
}

// start starts the servers that do not run, and waits until all of them serve.
func (n *nodes) start(ctx context.Context) (err error) {
	var survivors []*node
	for _, s := range n.all {
		if s.up {
			survivors = append(survivors, s)
			continue
		}
		if s.Server, err = serving.Start(n.command(s)); err != nil {
			return err
		}
		s.up = true
	}
	if n.database == nil {
		return nil
	}
	for _, s := range n.all {
		if err := s.ready(ctx); err != nil {
			return err
		}
	}
	if err := n.database.Settle(ctx, n.killed); err != nil {
		return err
	}
	for _, s := range survivors {
		if err := s.catchUp(ctx, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// wire leads to all servers.
func (n *nodes) wire(j *journal) *wire {
	w := newWire(j, n.all[0].Address, n.all[0].data)
	for _, s := range n.all[1:] {
		w.also(s.Address, s.data)
	}
	w.shared = n.database != nil
	return w
}

// mails are the folders of all servers.
func (n *nodes) mails() (folders []string) {
	for _, s := range n.all {
		folders = append(folders, filepath.Join(s.data, "mail"))
	}
	return folders
}

// kill sends SIGKILL, if the server runs.
func (s *node) kill() {
	if s.up {
		s.Kill()
		s.up = false
	}
}

// comeBack is the time within which a server works again once its database does.
const comeBack = 20 * time.Second

// ready waits until the server says that it can do its work, and can write.
func (s *node) ready(ctx context.Context) error {
	client, admin := &http.Client{Timeout: patience}, serving.AdminClient(s.data, patience)
	defer client.CloseIdleConnections()
	defer admin.CloseIdleConnections()
	for end := time.Now().Add(comeBack); ; time.Sleep(20 * time.Millisecond) {
		resp, err := client.Get("http://" + s.Address + "/healthz/ready")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(resp.Status)
		}
		if err := errors.Join(err, ctx.Err()); time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("the database is back, and a server that has lived through that is not ready after %v: %w\n%s",
				comeBack, err, s.Log)
		}
	}
}

// feedAge finds the age of the last whole read of what other servers, and calls whose answers were
// lost, have written.
var feedAge = regexp.MustCompile(`(?m)^keystile_feed_age_seconds ([0-9.e+-]+)$`)

// catchUp waits until a server has read what it has missed: all that was there at a time.
func (s *node) catchUp(ctx context.Context, since time.Time) error {
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	for end := time.Now().Add(comeBack); ; time.Sleep(20 * time.Millisecond) {
		asked := time.Now()
		resp, err := client.Get("http://" + s.Admin + "/metrics")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		found := feedAge.FindSubmatch(text)
		if err != nil || found == nil {
			return fmt.Errorf("a server does not say how old its feed is: %s, %w", resp.Status, err)
		}
		age, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil || asked.Add(-time.Duration(age*float64(time.Second))).After(since) {
			return err
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("the database is back, and %v later a server has not read what it has missed", comeBack)
		}
	}
}

// bad are lines of a log that no kill explains.
var bad = regexp.MustCompile(`(?m)^.*(panic|goroutine \d+|status=50[0-24-9]|fatal error).*$`)

// complaints returns what the servers have said that they should not have. One whose database is
// killed may say so.
func (n *nodes) complaints() string {
	var all strings.Builder
	for _, s := range n.all {
		if s.Server == nil {
			continue
		}
		if said := s.Log.String(); n.database == nil {
			all.WriteString(complaints(said))
		} else {
			all.WriteString(strings.Join(bad.FindAllString(said, -1), "\n"))
		}
	}
	return all.String()
}
