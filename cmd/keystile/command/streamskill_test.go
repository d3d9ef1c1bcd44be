package command

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/said"
)

// killer is a store of objects that has whoever ships to it killed, before it keeps a batch or behind it.
type killer struct {
	mu      sync.Mutex
	victim  *os.Process
	puts    int
	objects map[string][]byte
	changed []string
}

func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.puts++
	if k.puts%3 == 1 && k.victim != nil {
		k.victim.Kill()
		return
	}
	if was, there := k.objects[r.URL.Path]; there && !bytes.Equal(was, body) {
		k.changed = append(k.changed, r.URL.Path)
	}
	k.objects[r.URL.Path] = body
	if k.puts%3 == 2 && k.victim != nil { // it is kept, and the position is not
		k.victim.Kill()
	}
}

// aim has a process killed from now on; nil: none.
func (k *killer) aim(at *os.Process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.victim = at
}

// seqs returns those of the records in the objects, in the order of their names.
func (k *killer) seqs(t *testing.T) (all []uint64) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	names := make([]string, 0, len(k.objects))
	for name := range k.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		r, err := gzip.NewReader(bytes.NewReader(k.objects[name]))
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(r); lines.Scan(); {
			var l struct{ Seq uint64 }
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			all = append(all, l.Seq)
		}
	}
	return all
}

// A process that is killed while it ships leaves no gap, and none of its objects becomes another one.
func TestProcessThatIsKilledWhileItShipsLeavesNoGap(t *testing.T) {
	t.Parallel()
	k := &killer{objects: map[string][]byte{}}
	bucket := httptest.NewServer(k)
	defer bucket.Close()
	data := t.TempDir()
	env := []string{
		"KEYSTILE_STREAMS_AUDIT=s3", "KEYSTILE_STREAMS_S3_ENDPOINT=" + bucket.URL, "KEYSTILE_STREAMS_S3_BUCKET=trail",
		"KEYSTILE_STREAMS_S3_PATH_STYLE=true",
		"KEYSTILE_STREAMS_S3_ACCESS_KEY=AKIDEXAMPLE", "KEYSTILE_STREAMS_S3_SECRET_KEY=secret",
		"KEYSTILE_STREAMS_BATCH_AGE=1ms",
	}
	killed := 0
	for range 6 {
		c := spawn(t, env, "serve", "--data", data, "--listen", "127.0.0.1:0") // each start has a record: audit.begin
		k.aim(c.Process)
		select {
		case <-c.ended:
			killed++
		case <-time.After(3 * time.Second): // this life's batch was the one that is let through
		}
		k.aim(nil)
		c.Process.Kill()
		<-c.ended
	}
	s := serveIn(t, data, env...)
	s.child.log.Find(t, s.child.ended, `(msg=serving)`)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got := k.seqs(t)
		for i, seq := range got {
			if seq != uint64(i+1) {
				t.Fatalf("the objects have the records %v", got)
			}
		}
		if len(got) >= 7 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the objects have the records %v, want 7 starts; the log says %s", got, s.child.log)
		}
	}
	if len(k.changed) > 0 || killed < 3 {
		t.Errorf("%q came with other bytes; %d processes were killed as they shipped", k.changed, killed)
	}
}

// The process that reads the records ends, and the service does not.
func TestServiceOutlivesWhoReadsItsRecords(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--streams-audit", "stdout")
	cmd.Env = append(os.Environ(), "BE_KEYSTILE=1", "GORACE=atexit_sleep_ms=0")
	said := said.New()
	cmd.Stdout, cmd.Stderr = writes, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writes.Close()
	ended := make(chan struct{})
	go func() { defer close(ended); cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	base := said.Find(t, ended, `running at (\S+)`)
	first, err := bufio.NewReader(reads).ReadString('\n')
	if err != nil || !strings.Contains(first, `"seq":1,`) {
		t.Errorf("the first line is %q, %v", first, err)
	}
	reads.Close()
	// a record
	resp, err := http.PostForm(base+"/oauth/token", url.Values{"grant_type": {"client_credentials"},
		"client_id": {"nobody"}, "client_secret": {"none"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	said.Find(t, ended, `(records are not shipped)`)
	if resp, err := http.Get(base + "/healthz/live"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("behind that: %v", err)
	} else {
		resp.Body.Close()
	}
}
