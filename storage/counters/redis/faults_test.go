package redis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

const (
	alone = "counts alone"
	again = "answers again"
)

// node is Counters behind a proxy of their own.
type node struct {
	*Counters
	proxy *proxy
	lines *lines
	watch *watch
}

func (n node) allow(limit int) bool {
	return n.Limiter().Allow(ctx, "ks1", limit, n.watch.now()).OK
}

// admitted asks for an application so often, and returns how often it was admitted.
func (n node) admitted(limit, asked int) (ok int) {
	for range asked {
		if n.allow(limit) {
			ok++
		}
	}
	return ok
}

// nodes makes so many, which count together and know of each other.
func nodes(t *testing.T, n int, timeout time.Duration) (all []node) {
	t.Helper()
	w, prefix := newWatch(), "test"+fmt.Sprint(time.Now().UnixNano())
	for range n {
		p, l := newProxy(t), newLines()
		c := openAt(t, p.url(), Options{Prefix: prefix, Nodes: func() int { return n }, Timeout: timeout, Log: l.log(),
			clock: w.now})
		all = append(all, node{c, p, l, w})
	}
	return all
}

func TestNodesCountTogether(t *testing.T) {
	ns := nodes(t, 2, 0)
	if n := ns[0].admitted(10, 6) + ns[1].admitted(10, 6); n != 10 {
		t.Errorf("two nodes admit %d, want 10", n)
	}
}

func TestRedisOutageLeavesEachNodeItsShare(t *testing.T) {
	ns := nodes(t, 2, 0)
	before := ns[0].admitted(10, 4)
	for _, n := range ns {
		n.proxy.cut()
	}
	if n := before + ns[0].admitted(10, 10) + ns[1].admitted(10, 10); n != 10 {
		t.Errorf("two nodes admit %d, 4 of them before the server went, want 10", n)
	}
	for _, n := range ns {
		n.lines.wait(t, alone)
		if s := n.Stats(); s.Connected || s.Alone != 10 || s.Error == nil {
			t.Errorf("%+v, want 10 acts alone", s)
		}
		n.proxy.listen()
		n.lines.wait(t, again)
	}
	// The server knows of 4 only, and each node of its own.
	if n := ns[0].admitted(10, 10) + ns[1].admitted(10, 10); n != 0 {
		t.Errorf("after the server's return %d more are admitted in the window, want none", n)
	}
	ns[0].watch.pass(counters.Window)
	if n := ns[0].admitted(10, 5) + ns[1].admitted(10, 5); n != 10 {
		t.Errorf("in the next window %d are admitted, want 10", n)
	}
	for _, n := range ns {
		if lines := n.lines.list(); len(lines) != 2 {
			t.Errorf("%q, want a line for each change", lines)
		}
	}
}

func TestLimitBelowTheNumberOfNodesAdmitsOneOfEach(t *testing.T) {
	ns := nodes(t, 3, 0)
	for _, n := range ns {
		n.proxy.cut()
		if ok := n.admitted(2, 5); ok != 1 {
			t.Errorf("%d admitted, want 1", ok)
		}
	}
}

func TestServerThatIsAwayAtTheStartIsFoundLater(t *testing.T) {
	p, l := newProxy(t), newLines()
	p.cut()
	c := openAt(t, p.url(), Options{Nodes: func() int { return 2 }, Log: l.log()})
	l.wait(t, alone)
	n := node{c, p, l, newWatch()}
	if ok := n.admitted(10, 10); ok != 5 {
		t.Errorf("%d admitted, want the share of 5", ok)
	}
	p.listen()
	l.wait(t, again)
	if s := c.Stats(); !s.Connected || s.Version == "" {
		t.Errorf("%+v, want it connected", s)
	}
}

func TestSilentServerIsNotWaitedForAgainAndAgain(t *testing.T) {
	n := nodes(t, 1, 100*time.Millisecond)[0]
	n.proxy.hang()
	if ok := n.admitted(1000, 500); ok != 500 {
		t.Errorf("%d of 500 admitted", ok)
	}
	s := n.Stats()
	if s.Late+s.Failed > 5 || s.Connected {
		t.Errorf("%+v: want a few to have waited", s)
	}
	n.proxy.heal()
	n.lines.wait(t, again)
}

func TestActWhoseAnswerIsLostCounts(t *testing.T) {
	n, r, asked := nodes(t, 1, time.Second)[0], raw(t), 0
	// else what is lost may be an answer before the act's: of the greeting, or that the script is missing
	for n.Stats().Answered == 0 {
		asked += n.admitted(10_000, 1)
	}
	n.proxy.lose()
	if asked += n.admitted(10_000, 1); n.Stats().Late == 0 {
		t.Fatalf("%+v: the answer is not lost", n.Stats())
	}
	n.proxy.waitLost("*3\r\n:1\r\n") // the server may come to the act after nobody waits for it any more
	s := n.Stats()
	if size := int64(r.number("LLEN", n.o.Prefix+":app:ks1")); size != s.Answered+s.Late {
		t.Errorf("the server counts %d, want %d answered and %d late", size, s.Answered, s.Late)
	}
	if !n.apps.Allow("ks1", asked+1, n.watch.now()).OK || n.apps.Allow("ks1", asked+1, n.watch.now()).OK {
		t.Error("the node has not counted it")
	}
}

func TestEmptiedServerIsNoticed(t *testing.T) {
	ns, r := nodes(t, 2, 0), raw(t)
	if n := ns[0].admitted(10, 5) + ns[1].admitted(10, 5); n != 10 {
		t.Fatal(n)
	}
	seed := *ns[0].link.Seed()
	r.do("FLUSHALL", "SYNC")
	for _, n := range ns {
		n.lines.wait(t, "lost its counts")
	}
	if n := ns[0].admitted(10, 5) + ns[1].admitted(10, 5); n != 0 {
		t.Errorf("%d more are admitted", n)
	}
	for i, n := range ns { // they still agree on where addresses are counted
		if *n.link.Seed() != seed {
			t.Errorf("node %d has another seed", i)
		}
	}
}

func TestForgottenScriptsAreSentAgain(t *testing.T) {
	n, r := nodes(t, 1, 0)[0], raw(t)
	n.admitted(10, 1)
	r.do("SCRIPT", "FLUSH")
	n.admitted(10, 1)
	n.wantConnected(t)
}

func TestServerThatTakesNoWritesIsAway(t *testing.T) {
	for name, how := range map[string][2][]string{
		"full":      {{"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}},
		"a replica": {{"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}},
		"refusing":  {{"CONFIG", "SET", "min-replicas-to-write", "3"}, {"CONFIG", "SET", "min-replicas-to-write", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, r := nodes(t, 1, 0)[0], raw(t)
			t.Cleanup(func() { r.do(how[1]...) })
			r.do(how[0]...)
			if ok := n.admitted(10, 20); ok != 10 {
				t.Errorf("%d admitted, want the share of 10", ok)
			}
			n.lines.wait(t, alone)
			if s := n.Stats(); s.Failed > 1 || s.Connected {
				t.Errorf("%+v: want it known after the first", s)
			}
			r.do(how[1]...)
			n.lines.wait(t, again)
		})
	}
}

func TestKeyOfAnotherTypeHurtsNobodyElse(t *testing.T) {
	n, r := nodes(t, 1, 0)[0], raw(t)
	r.do("SET", n.o.Prefix+":app:ks1", "x")
	if ok := n.admitted(10, 20); ok != 10 {
		t.Errorf("%d admitted, want 10 by the node alone", ok)
	}
	if v := n.Limiter().Allow(ctx, "ks2", 10, n.watch.now()); !v.OK {
		t.Error(v)
	}
	if s := n.Stats(); !s.Connected || s.Refused != 20 || s.Answered != 1 {
		t.Errorf("%+v, want the others answered", s)
	}
}

func TestKeyThatVanishesIsCountedAnew(t *testing.T) {
	n, r := nodes(t, 1, 0)[0], raw(t)
	for range 20 {
		n.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 60, n.watch.now())
	}
	keys, _ := n.keys()
	r.do("DEL", keys.Client(kindOfAddress, "", prefix("192.0.2.1/32")).List)
	if v, _ := n.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 60, n.watch.now()); !v.OK {
		t.Error(v)
	}
	n.wantConnected(t)
}

func TestPasswordIsNeverTold(t *testing.T) {
	for _, address := range []string{
		"redis://u:hun/ter2@h:6379", "redis://u:hunter2@h:6379/hunter2", "redis://u:hunter2@h:x", "http://u:hunter2@h",
		"redis://u:hunter2@h?hunter2=1", "redis://:hunter2@h?db=hunter2", "redis://u:%zzhunter2@h",
		"redis://h?timeout=hunter2",
	} {
		_, err := Open(ctx, address, Options{Log: quiet()})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "ter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
	_, err := Open(ctx, "redis://h?prefix=a&timeout=1h&other=1", Options{Prefix: "b", Log: quiet()})
	for _, part := range []string{"prefix", "timeout", "parameter"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v: want all complaints, %s too", err, part)
		}
	}
}
