package command

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// taken returns what a process has resident, in kB: its own memory, and pages of files.
func taken(t *testing.T, pid int) (own, files int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`RssAnon:\s*(\d+) kB\s+RssFile:\s*(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Skipf("this system does not tell: %s", text)
	}
	own, err = strconv.Atoi(string(found[1]))
	files, err2 := strconv.Atoi(string(found[2]))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return own, files
}

// A first start makes passwords and hashes them, which takes 20 MB, and runs much of the program once.
func TestServerGivesBackWhatItsStartHasUsed(t *testing.T) {
	s := serveIn(t, t.TempDir())
	most, files := taken(t, s.Process.Pid)
	late := time.After(time.Minute)
	for own, left := most, files; left > files*2/3 || own > most-8<<10; own, left = taken(t, s.Process.Pid) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.child.ended:
			t.Fatalf("it has ended: %s", s.child.log)
		case <-late:
			t.Fatalf("%d kB of its own and %d kB of the program are resident a minute after its start, of %d and %d", own,
				left, most, files)
		}
	}
	if status := s.status(t, "/healthz/ready", ""); status != 200 {
		t.Errorf("afterwards it answers %d", status)
	}
}
