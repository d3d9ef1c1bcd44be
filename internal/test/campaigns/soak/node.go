package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// node is one keystile, which may be started several times.
type node struct {
	*serving.Server
	site           *site
	id             int
	data           string
	address, admin string // of its listeners
	past           strings.Builder
	serves         atomic.Int64 // the id of the process while it is ready and nobody ends it; else 0
}

// comeBack is for anything that has to be there again.
const comeBack = 30 * time.Second

// proxies are the addresses that the balancer has.
const proxies = "127.0.0.1"

// drain lets a node go on after SIGTERM while the balancer turns away from it.
const drain = time.Second

func (n *node) storageURL() string {
	if n.site.database == nil {
		return "bolt:"
	}
	return n.site.database.URL()
}

func (n *node) command() *exec.Cmd {
	upstream := n.site.upstream.address
	args := []string{
		"serve", "--data", n.data, "--listen", n.address, "--admin-listen", n.admin, "--base-url", serving.Issuer,
		"--storage-url", n.storageURL(), "--log-level", "warn", "--log-requests", "false", "--limits-per-ip", "1000000000",
		"--trusted-proxies", proxies, "--upstreams-allow-private", "127.0.0.1", "--gateway-products",
		"svc=http://" + upstream + ",left=http://" + upstream + ",ai",
		"--node-name", "node-" + strconv.Itoa(n.id), "--drain", drain.String(),
		"--signup", "open", "--mail-smtp-host", "127.0.0.1", "--mail-smtp-port", n.site.mails.port(), "--mail-smtp-tls",
		"none",
		"--mail-smtp-from", "soak@example.com", "--mail-smtp-timeout", "5s",
	}
	if c := n.site.counter; c != nil {
		args = append(args, "--redis-url", "redis://"+c.address)
	}
	cmd := exec.Command(n.site.binary, args...)
	cmd.Env = n.site.environment()
	return cmd
}

// start starts the node, and waits until it is ready.
func (n *node) start(ctx context.Context) error {
	n.note()
	var err error
	if n.Server, err = serving.Start(n.command()); err != nil {
		return err
	}
	err = until(ctx, comeBack, func() error {
		if !n.runs() {
			return fmt.Errorf("node %d ends by itself: %v\n%s", n.id, n.State(), n.Log)
		}
		resp, err := operator.Get("http://" + n.admin + "/healthz/ready")
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("node %d is not ready: %s", n.id, resp.Status)
		}
		return nil
	})
	if err == nil {
		n.serves.Store(int64(n.PID()))
	}
	return err
}

// operator asks what only operators may ask. It keeps no connection, which would be one of the node's files.
var operator = &http.Client{Timeout: comeBack, Transport: &http.Transport{DisableKeepAlives: true}}

// until tries something again and again until it is no error, or the time is over.
func until(ctx context.Context, most time.Duration, try func() error) error {
	for end := time.Now().Add(most); ; {
		err := try()
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
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
		return n.past.String()
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

func (n *node) close() {
	if n.runs() {
		n.Kill()
	}
}

// stop ends the node as an operator does.
func (n *node) stop() error {
	if err := n.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-n.Ended:
	case <-time.After(comeBack):
		n.Kill()
		return fmt.Errorf("node %d has not ended %v after SIGTERM", n.id, comeBack)
	}
	if code := n.State().ExitCode(); code != 0 {
		return fmt.Errorf("SIGTERM ends node %d with %d\n%s", n.id, code, n.Log)
	}
	return nil
}

// run has the node run an admin command; flags are name, value, name, value.
func (n *node) run(into any, name string, flags []string, words ...string) error {
	r, err := serving.Command(name, flags, words...)
	if err != nil {
		return err
	}
	socket := serving.AdminClient(n.data, comeBack)
	defer socket.CloseIdleConnections()
	resp, err := socket.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var out serving.Result
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return err
	}
	if out.Error != "" {
		return fmt.Errorf("%s %v: %s", name, words, out.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal([]byte(out.Output), into)
}
