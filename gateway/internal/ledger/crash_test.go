package ledger

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/bolt"
)

const (
	lives   = 24 // how often a child is killed, every other one while it writes its journal
	callers = 4  // calls a child makes at a time
)

// Each call has a row of its own, so that a call counted twice cannot hide one that is lost.
func TestKilledProcessHasCountedEveryAnsweredCallOnce(t *testing.T) {
	const folder = "KEYSTILE_CHARGES_IN"
	if dir := os.Getenv(folder); dir != "" {
		chargeUntilKilled(t, dir)
		return
	}
	dir, calls := mappable(t), map[string]*call{}
	for life := range lives {
		child, answers := begin(t, folder, dir, life)
		for range 20 + rand.IntN(400) {
			if !hear(answers, calls) {
				t.Fatalf("the child ended by itself: %v", child.Wait())
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for hear(answers, calls) {
		}
		child.Wait()
		if life%3 == 2 { // else the next child recovers, and may be killed at that
			verifyCounts(t, dir, calls)
		}
	}
	sent, answered, counted := verifyCounts(t, dir, calls)
	t.Logf("%d kills: answered %d <= counted %d <= sent %d", lives, answered, counted, sent)
	if sent == answered {
		t.Error("no call was in flight at any kill: the kills prove little")
	}
}

func TestTerminatedProcessHasCountedExactlyWhatItAnswered(t *testing.T) {
	const folder = "KEYSTILE_CHARGES_IN_PEACE"
	if dir := os.Getenv(folder); dir != "" {
		chargeUntilKilled(t, dir)
		return
	}
	dir, calls := mappable(t), map[string]*call{}
	for life := range 3 {
		child, answers := begin(t, folder, dir, life)
		for range 200 {
			hear(answers, calls)
		}
		if err := child.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for hear(answers, calls) {
		}
		if err := child.Wait(); err != nil {
			t.Fatalf("the child ended with %v, want no error", err)
		}
		if left := files(t, filepath.Join(dir, "journal"), ofRecords); len(left) != 0 {
			t.Errorf("a process that ended in peace left %v", left)
		}
	}
	sent, answered, counted := verifyCounts(t, dir, calls)
	t.Logf("3 ends by SIGTERM: answered %d, counted %d, sent %d", answered, counted, sent)
	if answered != counted || counted != sent || sent < 600/2 {
		t.Errorf("answered %d, counted %d, sent %d, want them equal", answered, counted, sent)
	}
}

// call is the state of one call as the parent knows it.
type call struct{ answered bool }

// begin starts a child that runs the same test.
func begin(t *testing.T, folder, dir string, life int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), folder+"="+dir, fmt.Sprintf("KEYSTILE_LIFE=%d", life))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil || child.Start() != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.Process.Kill() })
	return child, bufio.NewScanner(out)
}

// hear reads one line of a child and reports whether there was one.
func hear(answers *bufio.Scanner, calls map[string]*call) bool {
	if !answers.Scan() {
		return false
	}
	switch what, name, _ := strings.Cut(answers.Text(), " "); what {
	case "sent":
		calls[name] = &call{}
	case "answered":
		calls[name].answered = true
	}
	return true
}

// verifyCounts compares the stored counts with the answers that were received.
func verifyCounts(t *testing.T, dir string, calls map[string]*call) (sent, answered, counted int) {
	t.Helper()
	s, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	closed(t, opened(t, Config{Store: s, Path: filepath.Join(dir, "journal")}))
	rows, err := s.Usage(t.Context(), always("app"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		counted += int(row.Calls)
		if calls[row.Product] == nil || row.Calls != 1 {
			t.Errorf("call %s is counted %d times, sent %t", row.Product, row.Calls, calls[row.Product] != nil)
		}
	}
	is := map[string]bool{}
	for _, row := range rows {
		is[row.Product] = true
	}
	for _, d := range []Dimension{ByUser, ByTool, ByMember, ByAgent} { // every other call has them all
		names := map[string]bool{}
		details, err := s.Usage(t.Context(), always(By("app", d)))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range details {
			name := strings.TrimPrefix(row.Product, "shop__")
			if names[name] = true; d != ByMember && (row.Calls != 1 || !is[name]) {
				t.Errorf("call %s is counted %d times %s, and %t in all", name, row.Calls, d, is[name])
			}
		}
		for name := range is {
			if d != ByMember && names[name] != detailed(name) {
				t.Errorf("call %s is counted %s: %t", name, d, names[name])
			}
		}
	}
	for _, d := range []Dimension{OfService, OfProducts, OfLatency("")} { // and the whole service has them too
		if got, _ := stored(t, s, By("", d)); got != int64(counted) {
			t.Errorf("the service has %d calls %s, its application %d", got, d, counted)
		}
	}
	for name, c := range calls {
		if sent++; c.answered {
			answered++
		}
		if c.answered && !is[name] {
			t.Errorf("call %s was answered and is not counted", name)
		}
	}
	if answered > counted || counted > sent {
		t.Errorf("answered %d, counted %d, sent %d: not in this order", answered, counted, sent)
	}
	return sent, answered, counted
}

// chargeUntilKilled is the child: it reports each call before and after it is charged. It
// flushes all the time, so that most kills come amid a flush.
func chargeUntilKilled(t *testing.T, dir string) {
	s, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	prepare := (*journal).tryMapping
	if life, _ := strconv.Atoi(os.Getenv("KEYSTILE_LIFE")); life%2 == 1 {
		prepare = func(*journal) {}
	}
	l, err := open(context.Background(), Config{Store: s, Path: filepath.Join(dir, "journal"),
		FlushEvery: time.Millisecond}, prepare)
	if err != nil {
		t.Fatal(err)
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM) // before the first line that the parent waits for
	var ending atomic.Bool
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := 0; !ending.Load(); i++ {
				name := fmt.Sprintf("%s-%d-%d", os.Getenv("KEYSTILE_LIFE"), caller, i)
				report("sent", name)
				by := Detail{Took: time.Duration(i+1) * time.Millisecond}
				if detailed(name) {
					by.Tool, by.User, by.Agent = "shop__"+name, name, name
				}
				if err := l.ChargeDetailed("app", name, by, noon, false); err != nil {
					t.Errorf("Charge() = %v, want no error", err)
				}
				report("answered", name)
			}
		})
	}
	<-terminated
	ending.Store(true)
	all.Wait()
	if err := l.Close(context.Background()); err != nil {
		t.Errorf("Close() = %v, want no error", err)
	}
}

func detailed(name string) bool { return name[len(name)-1]%2 == 1 }

// report writes one line in one write, which a kill does not cut.
func report(what, name string) { os.Stdout.WriteString(what + " " + name + "\n") }
