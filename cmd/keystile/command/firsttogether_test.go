package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
)

// firstRounds is the variable of the environment that says how often nodes start at once on an empty database.
const firstRounds = "FIRST_RUN_ROUNDS"

func rounds(t *testing.T, otherwise string) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(firstRounds), otherwise))
	fatal(t, err)
	return n
}

// many are nodes that are processes of their own, with folders of their own, on one store.
type many struct {
	t     *testing.T
	url   string
	env   []string
	data  []string
	nodes []*child
}

func newMany(t *testing.T, n int) *many {
	m := &many{t: t, url: database.WithSchema(t), env: aKey(), nodes: make([]*child, n)}
	for range n {
		m.data = append(m.data, filepath.Join(t.TempDir(), "data"))
	}
	return m
}

func (m *many) start(i int) {
	m.nodes[i] = spawn(m.t, m.env,
		"serve", "--data", m.data[i], "--listen", "127.0.0.1:0", "--base-url", "http://127.0.0.1",
		"--storage-url", m.url, "--drain", "0", "--node-name", fmt.Sprint("node-", i), "--demo", "true")
}

func (m *many) service(i int) *service {
	c := m.nodes[i]
	return &service{data: m.data[i], base: "http://127.0.0.1", address: c.out.Find(m.t, c.ended, `Listening on +(\S+)`)}
}

// maker returns the only node that has a first-run.json, once all of them serve.
func (m *many) maker() int {
	m.t.Helper()
	maker := -1
	for i, data := range m.data {
		m.service(i)
		if _, err := os.Stat(filepath.Join(data, ".first-run.json.draft")); err == nil {
			m.t.Errorf("node %d has a draft", i)
		}
		_, err := os.Stat(filepath.Join(data, "first-run.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		fatal(m.t, err)
		if maker >= 0 {
			m.t.Fatalf("nodes %d and %d both have a first-run.json", maker, i)
		}
		maker = i
	}
	if maker < 0 {
		m.t.Fatal("no node has a first-run.json")
	}
	return maker
}

// wantTrue makes sure that what first-run.json says opens every node, and that nothing was made twice.
func (m *many) wantTrue(maker int) {
	m.t.Helper()
	p, keys := firstRunOf(m.t, m.data[maker]), ""
	token := machineToken(m.t, m.service(maker), p.App.ClientID, p.App.ClientSecret)
	for i := range m.nodes {
		s := m.service(i)
		s.data = m.data[maker]
		wantUserInfo(m.t, s, redeem(m.t, s, authorize(m.t, s), 200).AccessToken, 200)
		resp, body := get(m.t, http.DefaultClient, s.origin()+"/api/v1/quota", "Authorization", "Bearer "+token)
		if resp.StatusCode != 200 {
			m.t.Errorf("node %d answers the application %d %s", i, resp.StatusCode, body)
		}
		_, published := get(m.t, http.DefaultClient, s.origin()+"/oauth/jwks")
		kids := strings.Join(regexp.MustCompile(`"kid":"[^"]*"`).FindAllString(published, -1), " ")
		if keys != "" && kids != keys {
			m.t.Errorf("node %d publishes the keys %s, others %s", i, kids, keys)
		} else {
			keys = kids
		}
	}
	for what, want := range map[string]int{"user": 1, "app": 1, "key": 3} {
		var rows []any
		code, out, errs := command(m.t, "", what, "list", "--data", m.data[maker], "--json")
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil || len(rows) != want {
			m.t.Errorf("%s list has %d, want %d: %s%s", what, len(rows), want, out, errs)
		}
	}
	verify := spawn(m.t, m.env, "audit", "verify", "--data", m.data[maker], "--storage-url", m.url)
	if <-verify.ended; verify.ProcessState.ExitCode() != 0 {
		m.t.Errorf("audit verify: %s%s", verify.out, verify.log)
	}
}

func (m *many) end() {
	for _, c := range m.nodes {
		c.Process.Kill()
		<-c.ended
	}
}

// Servers start at once on an empty database: one is the first, and no other says so.
func TestServersThatStartAtOnceOnAnEmptyDatabaseHaveOneFirstRun(t *testing.T) {
	for round := range rounds(t, "2") {
		n := 3 + round%3
		m := newMany(t, n)
		for i := range n {
			m.start(i)
		}
		maker := m.maker()
		m.wantTrue(maker)
		for i, c := range m.nodes {
			says := strings.Contains(c.out.String(), "This was the first run")
			other := strings.Contains(c.out.String(), fmt.Sprintf("was at node node-%d, whose data folder", maker))
			if says != (i == maker) || other == says {
				t.Errorf("node %d of which %d was first says: %s", i, maker, c.out)
			}
		}
		m.end()
	}
}

// Each server is killed at some moment of its start, and started again.
func TestServersThatAreKilledAtTheirFirstStartHaveOneFirstRun(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	for range rounds(t, "3") {
		seed := mathrand.Uint64()
		random := mathrand.New(mathrand.NewPCG(seed, 0))
		m := newMany(t, 4)
		for i := range m.nodes {
			m.start(i)
		}
		for range 2 {
			for i, c := range m.nodes {
				wait := time.NewTimer(time.Duration(random.IntN(300)) * time.Millisecond)
				select {
				case <-wait.C:
				case <-c.ended:
				}
				c.Process.Kill()
				<-c.ended
				m.start(i)
			}
		}
		m.wantTrue(m.maker())
		m.end()
		if t.Failed() {
			t.Fatalf("the seed was %d", seed)
		}
	}
}

// Each server draws a master key of its own, because nobody has given them one.
func TestServerKeepsNoMasterKeyThatNothingIsSealedWith(t *testing.T) {
	m := newMany(t, 3)
	m.env = nil
	for i := range m.nodes {
		m.start(i)
	}
	serving := 0
	for i, c := range m.nodes {
		key := filepath.Join(m.data[i], "master.key")
		if c.out.Says(c.ended, "Listening on") {
			serving++
			if _, err := os.Stat(key); err != nil {
				t.Errorf("node %d serves: %v", i, err)
			}
			continue
		}
		if !strings.Contains(c.log.String(), "copy the master.key of that node to "+key) {
			t.Errorf("node %d ends with: %s", i, c.log)
		}
		if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("node %d keeps a key: %v", i, err)
		}
	}
	if serving != 1 {
		t.Errorf("%d nodes serve", serving)
	}
	m.end()
}
