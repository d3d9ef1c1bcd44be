//go:build linux

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/database"
)

// TestMain makes the test binary a floor, for the rows that need one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--floor") {
		proxy := ""
		if i := slices.Index(os.Args, "--proxy"); i > 0 {
			proxy = os.Args[i+1]
		}
		serveFloor(proxy)
		return
	}
	os.Exit(m.Run())
}

// A figure of a moment is worth nothing; the test is that there is one.
func TestRowMeasuresSomething(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	b := &bench{seconds: 40 * time.Millisecond, turns: 1, peers: true, dir: t.TempDir()}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	measured := map[int]int{}
	for _, row := range rows {
		measured[row.number] = len(b.figures(t, row.number, row.measure))
	}
	// The processor time that /proc tells is counted in hundredths of a second.
	beside := &bench{seconds: 400 * time.Millisecond, turns: 1, pair: true, self: b.self}
	beside.binary, beside.against = b.binary, b.binary
	for _, row := range rows {
		beside.dir = t.TempDir()
		if n := len(beside.figures(t, row.number, row.measure)); row.number != 1 && row.number != 4 &&
			row.number != 6 && n <= measured[row.number] {
			t.Errorf("row %d has %d figures with another keystile beside this one, and %d without", row.number, n,
				measured[row.number])
		}
	}
}

// figures measures a row, and fails the test if a figure is none.
func (b *bench) figures(t *testing.T, row int, measure func(*bench) ([]figure, error)) []figure {
	t.Helper()
	figures, err := measure(b)
	if err != nil || len(figures) == 0 {
		t.Errorf("row %d: %d figures, %v", row, len(figures), err)
	}
	for _, f := range figures {
		if f.value <= 0 || math.IsInf(f.value, 0) || math.IsNaN(f.value) {
			t.Errorf("row %d, %s: measured %v", row, f.work, f.value)
		}
	}
	return figures
}

func TestPairLoadsContendersAtTheSameTime(t *testing.T) {
	b := &bench{seconds: time.Nanosecond, turns: 1, pair: true, self: os.Args[0]} // one unit of work each
	floor, err := b.floor()
	if err != nil {
		t.Fatal(err)
	}
	defer floor.stop()
	here, there := make(chan bool), make(chan bool)
	meeting := func(mine, others chan bool) func(int, *conn) error {
		return func(_ int, c *conn) error {
			select { // each waits until the other is at work
			case mine <- true:
			case <-others:
			case <-time.After(patience):
				return errors.New("the other does not work at the same time")
			}
			return c.get("/json", "")
		}
	}
	s, err := b.rounds(
		contender{"one", floor, 1, meeting(here, there)}, contender{"other", floor, 1, meeting(there, here)})
	if err != nil || len(s) != 2 || s[0][0].n != 1 || s[1][0].n != 1 {
		t.Errorf("rounds = %v, %v, want one unit of work of each", s, err)
	}
}

func TestPairHoldsProcessorTimesAgainstEachOther(t *testing.T) {
	slow, fast := []sample{{rate: 10, cpu: 100}}, []sample{{rate: 10, cpu: 50}}
	for _, c := range []struct {
		pair bool
		want float64
	}{{false, 1}, {true, 2}} {
		b := &bench{pair: c.pair}
		if r, _ := ratio(fast, slow, b.speed()); r != c.want {
			t.Errorf("with pair %t the ratio is %v, want %v", c.pair, r, c.want)
		}
	}
}

func TestRecordingCountsTheSystemCallsOfTheServer(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	b := &bench{seconds: 200 * time.Millisecond, turns: 1, self: os.Args[0]}
	b.record = &recorder{strace: t.TempDir()}
	floor, err := b.floor()
	if err != nil {
		t.Fatal(err)
	}
	defer floor.stop()
	if _, err := b.rounds(contender{"a floor", floor, 1, read("/json", "", http.StatusOK)}); err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(filepath.Join(b.record.strace, "001-a-floor.strace"))
	if err != nil || !strings.Contains(string(calls), " write\n") {
		t.Errorf("strace says %s, %v, want the calls of write", calls, err)
	}
	units, err := os.ReadFile(filepath.Join(b.record.strace, "units.txt"))
	if err != nil || !strings.HasPrefix(string(units), "001-a-floor.strace: ") {
		t.Errorf("units.txt says %s, %v", units, err)
	}
}

func TestToolThatCannotRecordIsSaid(t *testing.T) {
	b := &bench{seconds: time.Millisecond, turns: 1, self: os.Args[0]}
	b.record = &recorder{strace: filepath.Join(os.DevNull, "no folder")}
	floor, err := b.floor()
	if err != nil {
		t.Fatal(err)
	}
	defer floor.stop()
	if _, err := b.rounds(contender{"a floor", floor, 1, read("/json", "", http.StatusOK)}); err == nil {
		t.Error("nothing is recorded, and nothing is said of it")
	}
}

// A peer that lets everybody through would do less than it seems to.
func TestPeersCheckEachCall(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	b := &bench{peers: true, dir: t.TempDir()}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	floor, err := b.floor()
	if err != nil {
		t.Fatal(err)
	}
	defer floor.stop()
	h, err := b.service("peers", "--gateway-products", "svc=http://"+floor.address)
	if err != nil {
		t.Fatal(err)
	}
	defer h.stop()
	good, err := h.machine()
	if err != nil {
		t.Fatal(err)
	}
	some, err := b.others(floor, h)
	defer stopAll(some)
	if err != nil {
		t.Fatal(err)
	}
	if len(some) == 0 {
		t.Skip("neither nginx, Caddy nor HAProxy is installed")
	}
	forged := []byte(good)
	forged[len(forged)-10] ^= 1 // within the signature
	for _, o := range some {
		c, err := dial(o.address)
		if err != nil {
			t.Fatal(err)
		}
		for header, want := range map[string]int{good: http.StatusOK, "": http.StatusUnauthorized,
			string(forged): http.StatusUnauthorized} {
			if err := errors.Join(c.get("/json", header), c.want(want)); err != nil {
				t.Errorf("%s: %v", o.name, err)
			}
		}
		c.Close()
	}
}

func TestFigureSaysWhetherItsGoalIsMet(t *testing.T) {
	for _, c := range []struct {
		f    figure
		want string
	}{
		{figure{goal: 0.4, value: 0.41}, "yes"},
		{figure{goal: 0.4, value: 0.39}, "no"},
		{figure{goal: 90, value: 61, atMost: true}, "yes"},
		{figure{goal: 90, value: 91, atMost: true}, "no"},
		{figure{goal: noGoal, value: 1}, ""},
	} {
		if got := c.f.met(); got != c.want {
			t.Errorf("met(%v) = %q, want %q", c.f, got, c.want)
		}
	}
}

func TestLineOfTheTableIsMarkdown(t *testing.T) {
	var out strings.Builder
	printHead(&out)
	figure{work: "token", beside: "floor", goal: 0.4, value: 0.351, spread: 0.02, cpu: 61.44,
		note: "23824 a second"}.print(&out, 1)
	want := "| 1 | token | floor | >= 0.40 | 0.35 | 0.02 | 61.4 | no | 23824 a second |\n"
	if lines := strings.SplitAfter(out.String(), "\n"); lines[2] != want {
		t.Errorf("print = %q, want %q", lines[2], want)
	}
}

func TestRatiosAreTakenRoundByRound(t *testing.T) {
	mid, spread := ratio([]sample{{rate: 10}, {rate: 40}, {rate: 9}}, []sample{{rate: 20}, {rate: 80}, {rate: 10}}, rate)
	if mid != 0.5 || math.Abs(spread-0.4) > 1e-9 {
		t.Errorf("ratio = %v, %v, want 0.5, 0.4", mid, spread)
	}
	if got := middle([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("middle = %v, want 2.5", got)
	}
}

func TestClientReadsWhatServersAnswer(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /away", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://127.0.0.1/cb?code="+r.Header.Get("Cookie")+"&state=x")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	mux.HandleFunc("GET /same", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	mux.HandleFunc("GET /endless", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) })
	s := httptest.NewServer(mux)
	defer s.Close()
	c, err := dial(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.get("/away", "Cookie: abc\r\n"); err != nil {
		t.Fatal(err)
	}
	if code, err := codeOf(c); code != "abc" || err != nil {
		t.Errorf("codeOf = %q, %v, want abc", code, err)
	}
	if err := errors.Join(c.post("/echo", `{"name":"value"}`), c.want(http.StatusOK)); err != nil {
		t.Fatal(err)
	}
	if value, err := c.member("name"); value != "value" || err != nil {
		t.Errorf("member = %q, %v, want value", value, err)
	}
	if _, err := c.member("other"); err == nil {
		t.Error("a member that is not there is found")
	}
	if err := errors.Join(c.get("/same", ""), c.want(http.StatusNotModified)); err != nil {
		t.Error(err)
	}
	if c.want(http.StatusOK) == nil {
		t.Error("want(200) takes a 304")
	}
	if err := c.get("/endless", ""); err == nil {
		t.Error("a body without length is taken for an answer")
	}
}

func TestFloorAnswers(t *testing.T) {
	floor := newFloor()
	for _, c := range []struct {
		method, target, body string
		status, size         int
	}{
		{"POST", "/form", "client_secret=x", 200, 600},
		{"POST", "/form", "", 400, 0},
		{"GET", "/json", "", 200, 200},
		{"GET", "/static/942", "", 200, 942},
	} {
		r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if floor.ServeHTTP(w, r); w.Code != c.status || w.Body.Len() < c.size {
			t.Errorf("%s %s = %d with %d bytes, want %d with %d", c.method, c.target, w.Code, w.Body.Len(), c.status, c.size)
		}
	}
}

func TestGrowthMeasuresEachSize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	built := &bench{dir: t.TempDir()}
	if err := built.prepare(); err != nil {
		t.Fatal(err)
	}
	for name, server := range map[string]string{"in files": "", "on PostgreSQL": os.Getenv(database.Direct)} {
		t.Run(name, func(t *testing.T) {
			if server == "" && name != "in files" {
				t.Skip(database.Direct + " does not name a server")
			}
			b := &bench{seconds: 100 * time.Millisecond, turns: 1, dir: t.TempDir(), binary: built.binary, postgres: server}
			b.growsTable(t)
		})
	}
}

// growsTable measures two sizes, and fails the test if a figure is none.
func (b *bench) growsTable(t *testing.T) {
	t.Helper()
	var all []measured
	for _, n := range []int{20, 60} {
		m, err := b.grown(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.figures {
			if f.value < 0 || math.IsNaN(f.value) || f.value == 0 && f.unit == "MB" {
				t.Errorf("with %d of each, %s is %v", n, f.name, f.value)
			}
		}
		all = append(all, m)
	}
	var out strings.Builder
	printGrowth(&out, all)
	if lines := strings.Count(out.String(), "\n"); lines != len(all[0].figures)+2 || len(all[0].figures) < 12 {
		t.Errorf("the table has %d lines of %d figures:\n%s", lines, len(all[0].figures), out.String())
	}
}

func TestPictureOfGrowthHasALineForEachFigure(t *testing.T) {
	all := []measured{{1000, []grew{{"flat", "ms", 2}, {"steep", "ms", 1}}},
		{100_000, []grew{{"flat", "ms", 2}, {"steep", "ms", 100}}}}
	lines := growthLines(all)
	if lines[0].name != "steep" || lines[0].values[1] != 100 || lines[1].values[1] != 1 {
		t.Errorf("growthLines = %v, want the steep one first, with 100 times its first figure", lines)
	}
	picture := string(drawGrowth(all))
	for _, want := range []string{"steep, 100x", "flat, 1.00x", ">1000<", ">100000<"} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture has no %q:\n%s", want, picture)
		}
	}
	var node struct{}
	if err := xml.Unmarshal([]byte(picture), &node); err != nil {
		t.Errorf("the picture is no XML: %v", err)
	}
}

func TestSizesOfStoresAreRisingNumbers(t *testing.T) {
	if sizes, err := sizesOf("10,200"); err != nil || !slices.Equal(sizes, []int{10, 200}) {
		t.Errorf("sizesOf = %v, %v", sizes, err)
	}
	for _, text := range []string{"", "10,", "0", "-1", "x", "200,10"} {
		if sizes, err := sizesOf(text); err == nil {
			t.Errorf("sizesOf(%q) = %v, want an error", text, sizes)
		}
	}
}
