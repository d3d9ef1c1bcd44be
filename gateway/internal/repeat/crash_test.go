package repeat

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

const (
	lives   = 8 // how often a child is killed
	callers = 4 // attempts that a child makes at a time
	many    = 100
)

var noon = time.Date(2026, 8, 1, 12, 30, 0, 0, time.UTC)

// told holds what the parent knows of a call.
type told struct {
	answered bool
	doubtful int // kills at which it was under way, or its caller's last
}

// Each call is attempted twice, and again by the next child if it was a caller's last at a kill. Each
// has a row of its own in the ledger.
func TestKilledProcessHasChargedEveryAnsweredCallAndOnceWhereItWasNotUnderWay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const folder = "KEYSTILE_REPEATS_IN"
	if dir := os.Getenv(folder); dir != "" {
		repeatUntilKilled(t, dir)
		return
	}
	dir, calls, again := t.TempDir(), map[string]*told{}, []string(nil)
	for life := range lives {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), folder+"="+dir, fmt.Sprint("KEYSTILE_LIFE=", life),
			"KEYSTILE_AGAIN="+strings.Join(again, " "))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			t.Fatal(err)
		}
		lines, last := bufio.NewScanner(out), map[string]string{} // by caller
		for n := 100 + rand.IntN(300); lines.Scan(); n-- {
			what, rest, _ := strings.Cut(lines.Text(), " ")
			caller, name, _ := strings.Cut(rest, " ")
			if last[caller] = name; calls[name] == nil {
				calls[name] = &told{}
			}
			calls[name].answered = calls[name].answered || what == "answered"
			if n == 0 {
				child.Process.Kill()
			}
		}
		if child.Wait() == nil {
			t.Fatal("the child ended by itself")
		}
		again = nil
		for _, name := range last {
			calls[name].doubtful++
			again = append(again, name)
		}
	}
	verify(t, dir, calls)
}

func verify(t *testing.T, dir string, calls map[string]*told) {
	b, s := reopen(t, dir)
	defer b.Close()
	l, err := ledger.Open(t.Context(), ledger.Config{Store: s, Path: filepath.Join(dir, "journal")})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Usage(t.Context(), driver.UsageQuery{AppID: "app", From: noon.Truncate(time.Hour),
		To: noon.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for _, row := range rows {
		counted[row.Product] = int(row.Calls)
	}
	twice, answered := 0, 0
	for name, c := range calls {
		if n := counted[name]; n > 1+c.doubtful || n == 0 && c.answered {
			t.Errorf("call %s was charged %d times, answered %t, under way at %d kills", name, n, c.answered, c.doubtful)
		}
		twice += max(0, counted[name]-1)
		if c.answered {
			answered++
		}
	}
	t.Logf("%d kills: of %d calls %d were answered, and all charged; %d charges too many", lives, len(calls), answered,
		twice)
	if answered < 20*lives {
		t.Errorf("%d answered calls prove little", answered)
	}
}

func reopen(t *testing.T, dir string) (*bolt.Store, *storage.Store) {
	t.Helper()
	b, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := storage.ParseMasterKey(strings.Repeat("A", 43) + "=")
	if err != nil {
		t.Fatal(err)
	}
	return b, open(t, b, key)
}

// repeatUntilKilled is the child.
func repeatUntilKilled(t *testing.T, dir string) {
	_, s := reopen(t, dir)
	l, err := ledger.Open(context.Background(), ledger.Config{Store: s, Path: filepath.Join(dir, "journal"),
		FlushEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	k := New(s, many)
	again := strings.Fields(os.Getenv("KEYSTILE_AGAIN"))
	for caller := range callers {
		go func() {
			for i := 0; ; i++ {
				name := fmt.Sprint(os.Getenv("KEYSTILE_LIFE"), "-", caller, "-", i)
				if i == 0 && caller < len(again) {
					name = again[caller]
				}
				for range 2 {
					os.Stdout.WriteString(fmt.Sprintln("sent", caller, name))
					if _, err := k.Charge(call(name), time.Now(),
						func() error { return l.Charge("app", name, noon, false) }); err != nil {
						panic(err)
					}
					os.Stdout.WriteString(fmt.Sprintln("answered", caller, name))
				}
			}
		}()
	}
	select {}
}
