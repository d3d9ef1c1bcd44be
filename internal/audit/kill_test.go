package audit

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/event"
)

// The child says which event it was answered for; the parent kills it amid the next.
func TestKilledProcessLeavesAWholeTrail(t *testing.T) {
	const folder = "KEYSTILE_KILLED_IN"
	if dir := os.Getenv(folder); dir != "" {
		noteUntilKilled(t, dir)
	}
	dir := t.TempDir()
	var kept []Head
	want := map[string]bool{}
	for life := range 4 {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledProcessLeavesAWholeTrail$")
		child.Env = append(os.Environ(), folder+"="+dir, folder+"_LIFE="+strconv.Itoa(life))
		out, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			t.Fatal(err)
		}
		answers := bufio.NewScanner(out)
		for range 20 + 7*life {
			if !answers.Scan() {
				t.Fatalf("the child ended by itself: %v", child.Wait())
			}
			want[answers.Text()] = true
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		child.Wait()
		kept = append(kept, holds(t, dir, want, kept)...)
	}
}

func noteUntilKilled(t *testing.T, dir string) {
	s, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	trail := opened(t, s, func(c *Config) { c.flushEvery = time.Millisecond })
	for i := 0; ; i++ {
		trail.Note(numbered(i))
		e := Event{Kind: event.Admin, RequestID: os.Getenv("KEYSTILE_KILLED_IN_LIFE") + "-" + strconv.Itoa(i)}
		if err := trail.NoteNow(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		fmt.Println(e.RequestID)
	}
}

// holds checks the trail against what was answered, and returns its heads.
func holds(t *testing.T, dir string, want map[string]bool, kept []Head) []Head {
	t.Helper()
	s, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	report, entries := whole(t, unpruned{s}, kept...)
	stored := map[string]bool{}
	for _, e := range entries {
		stored[e.RequestID] = true
	}
	for id := range want {
		if !stored[id] {
			t.Errorf("event %s was answered and is not on the trail", id)
		}
	}
	return report.Heads
}
