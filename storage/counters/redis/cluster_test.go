package redis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/resp"
	"github.com/keystile/keystile/storage/counters"
)

// process is a server that a test starts, stops and starts again.
type process struct {
	t    testing.TB
	port string
	args []string
	cmd  *exec.Cmd
}

func freePort(t testing.TB) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port < 55_000 { // a member of a cluster has another one, 10,000 higher
			return fmt.Sprint(port)
		}
	}
}

// started starts a server of the test's own.
func started(t testing.TB, more ...string) *process {
	t.Helper()
	server(t) // skips where there is none
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if program, err = exec.LookPath("valkey-server"); err != nil {
			t.Skip("neither redis-server nor valkey-server is installed")
		}
	}
	for range 10 { // somebody else may take the port, or the one 10,000 higher
		p := &process{t: t, port: freePort(t)}
		p.args = append([]string{program, "--bind", "127.0.0.1", "--port", p.port, "--dir", t.TempDir(), "--save", "",
			"--appendonly", "no"}, more...)
		if p.begin() {
			t.Cleanup(p.kill)
			return p
		}
	}
	t.Fatal("the server does not start")
	return nil
}

func (p *process) url() string { return "redis://127.0.0.1:" + p.port }

func (p *process) start() {
	p.t.Helper()
	if !p.begin() {
		p.t.Fatal("the server does not start again")
	}
}

// begin reports whether the server accepts connections now.
func (p *process) begin() bool {
	p.t.Helper()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "Ready to accept connections") || strings.Contains(lines.Text(), "Sentinel ID is") {
			go io.Copy(io.Discard, out)
			return true
		}
	}
	p.cmd.Wait()
	return false
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func (p *process) do(args ...string) string {
	p.t.Helper()
	r := rawAt(p.t, p.url())
	defer r.c.Close()
	switch v := r.do(args...); v.Kind {
	case resp.Number:
		return fmt.Sprint(v.Int)
	default:
		return v.Text
	}
}

// A server that is killed and comes back has lost its counts; the nodes have not.
func TestServerThatIsStartedAgainAdmitsNoBurst(t *testing.T) {
	p, l, w := started(t), newLines(), newWatch()
	c := openAt(t, p.url(), Options{Log: l.log(), clock: w.now})
	n := node{c, nil, l, w}
	if ok := n.admitted(10, 7); ok != 7 {
		t.Fatal(ok)
	}
	p.kill()
	if ok := n.admitted(10, 2); ok != 2 {
		t.Fatal(ok)
	}
	p.start()
	l.wait(t, again)
	if ok := n.admitted(10, 10); ok != 1 {
		t.Errorf("%d more admitted, want the tenth only", ok)
	}
	w.pass(counters.Window)
	if ok := n.admitted(10, 20); ok != 10 {
		t.Errorf("%d admitted a window later, want 10", ok)
	}
}

// startCluster starts three masters.
func startCluster(t *testing.T) (all []*process) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts three servers")
	}
	for range 3 {
		all = append(all, started(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000"))
	}
	for i, p := range all {
		p.do("CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(i*16384/3), fmt.Sprint((i+1)*16384/3-1))
		p.do("CLUSTER", "MEET", "127.0.0.1", all[0].port)
	}
	for _, p := range all {
		for info := ""; !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:3"); {
			info = p.do("CLUSTER", "INFO")
		}
	}
	return all
}

func TestClusterCounts(t *testing.T) {
	all := startCluster(t)
	w := newWatch()
	l := newLines()
	c := openAt(t, all[0].url()+"?addr=127.0.0.1:"+all[1].port, Options{clock: w.now, Log: l.log()})
	a, d := c.Addresses(counters.Lock{}), c.Accounts()
	for i := range 200 {
		for range 9 {
			if v := c.Limiter().Allow(ctx, fmt.Sprint("ks", i), 9, w.now()); !v.OK {
				t.Fatal(v)
			}
			for _, from := range []string{fmt.Sprintf("192.0.2.%d", i), fmt.Sprintf("2001:db8:%x::1", i)} {
				if v, undo := c.Limiter().HoldAddress(ctx, ip(from), 9, w.now()); !v.OK {
					t.Fatal(from, v)
				} else if i%2 == 0 {
					undo()
				}
				if wait := a.Begin(ctx, ip(from)); wait != 0 {
					t.Fatal(from, wait)
				}
				a.End(ctx, ip(from), true)
				if wait := c.Counter().Add(ctx, "mails", network.Of(ip(from)), 9, time.Minute); wait != 0 {
					t.Fatal(from, wait)
				}
			}
			if wait := d.Begin(ctx, [32]byte{byte(i)}); wait != 0 {
				t.Fatal(wait)
			}
			d.End(ctx, [32]byte{byte(i)}, true)
		}
	}
	c.wantConnected(t)
	for _, p := range all {
		if n := p.do("DBSIZE"); len(n) < 3 {
			t.Errorf("one of three masters has %s keys", n)
		}
	}
	all[1].do("FLUSHALL")
	l.wait(t, "lost its counts")
	if v := c.Limiter().Allow(ctx, "ks1", 9, w.now()); v.OK {
		t.Error("an application is admitted once more after its master was emptied")
	}
}

// While a slot moves to another master, and afterwards, its keys are counted on where they are.
func TestSlotThatMovesCountsOn(t *testing.T) {
	all := startCluster(t)
	c := openAt(t, all[0].url(), Options{})
	key := c.o.Prefix + ":app:ks1"
	slot := all[0].do("CLUSTER", "KEYSLOT", key)
	n := 0
	fmt.Sscan(slot, &n)
	from, to := all[0], all[0]
	for i, p := range all {
		if n >= i*16384/3 {
			from = p
		}
	}
	if from == to {
		to = all[1]
	}
	to.do("CLUSTER", "SETSLOT", slot, "IMPORTING", from.do("CLUSTER", "MYID"))
	from.do("CLUSTER", "SETSLOT", slot, "MIGRATING", to.do("CLUSTER", "MYID"))
	node := node{c, nil, nil, newWatch()}
	if ok := node.admitted(10, 4); ok != 4 {
		t.Errorf("%d are admitted while the slot moves, want 4", ok)
	}
	for _, p := range all {
		p.do("CLUSTER", "SETSLOT", slot, "NODE", to.do("CLUSTER", "MYID"))
	}
	if ok := node.admitted(10, 9); ok != 6 {
		t.Errorf("%d more are admitted when it has moved, want 6", ok)
	}
	if n := to.do("LLEN", key); n != "10" {
		t.Errorf("%s are counted where the slot is", n)
	}
	c.wantConnected(t)
}
