package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/soak/internal/level"
)

// Measurements of a process.
const (
	rss         = "RSS, MB"
	anonymous   = "RSS of its own, MB" // without what is only mapped from files
	heap        = "heap after GC, MB"
	files       = "open files"  // but connections of clients: how many of those there are is up to the balancer
	goroutines  = "goroutines"  // but one for each of those
	connections = "connections" // of clients
	folder      = "data folder, MB"
)

var measures = []string{rss, anonymous, heap, files, goroutines, connections, folder}

// life holds what was measured of one process of a node.
type life struct {
	node, pid int
	began     time.Duration
	series    map[string][]level.Point
}

// sampler measures all nodes every now and then.
type sampler struct {
	site  *site
	began time.Time

	told time.Duration // when a line was printed

	mu    sync.Mutex
	lives []*life
	sizes []size
}

// size holds the size of the database at a time.
type size struct {
	at time.Duration
	mb float64
}

func newSampler(s *site) *sampler { return &sampler{site: s, began: time.Now()} }

// watch measures until ctx ends.
func (s *sampler) watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for round := 0; ; round++ {
		for _, n := range s.site.nodes {
			s.take(n)
		}
		if s.site.database != nil && round%5 == 0 {
			s.measureDatabase(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// take measures one node. One that is not there, or goes away meanwhile, is left out.
func (s *sampler) take(n *node) {
	pid := int(n.serves.Load())
	if pid == 0 {
		return
	}
	at := time.Since(s.began)
	is, err := measure(pid, n.admin, n.data)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.life(n.id, pid, at)
	for what, value := range is {
		l.series[what] = append(l.series[what], level.Point{At: at, Value: value})
	}
	if s.site.verbose && n.id == 0 && at-s.told >= time.Minute {
		s.told = at
		fmt.Printf("%8.1f s: node 0:", at.Seconds())
		for _, what := range measures {
			fmt.Printf(" %s %.1f;", what, is[what])
		}
		fmt.Println()
	}
}

// life returns the life of a process, a new one if there is none.
func (s *sampler) life(node, pid int, at time.Duration) *life {
	for _, l := range s.lives {
		if l.node == node && l.pid == pid {
			return l
		}
	}
	l := &life{node: node, pid: pid, began: at, series: map[string][]level.Point{}}
	s.lives = append(s.lives, l)
	return l
}

const mb = 1 << 20

// measure measures a process: the kernel is asked first, because the heap profile takes memory itself.
func measure(pid int, admin, data string) (map[string]float64, error) {
	is := map[string]float64{}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		// what is no number is not looked at
		kib, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		switch name {
		case "VmRSS":
			is[rss] = kib / 1024
		case "RssAnon":
			is[anonymous] = kib / 1024
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return nil, err
	}
	is[files] = float64(len(open))
	if is[connections], err = find(admin, "/metrics", `keystile_connections_open{listener="public"} `); err != nil {
		return nil, err
	}
	if is[goroutines], err = find(admin, "/metrics", "go_goroutines "); err != nil {
		return nil, err
	}
	is[files] -= is[connections]
	is[goroutines] -= is[connections]
	bytes, err := find(admin, "/debug/pprof/heap?gc=1&debug=1", "# HeapAlloc = ")
	if err != nil {
		return nil, err
	}
	is[heap] = bytes / mb
	is[folder] = float64(folderSize(data)) / mb
	return is, nil
}

// find asks the admin listener, and returns the number behind a text at the beginning of a line.
func find(admin, path, text string) (float64, error) {
	resp, err := operator.Get("http://" + admin + path)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s is answered %s", path, resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, mb)
	for lines.Scan() {
		if number, found := strings.CutPrefix(lines.Text(), text); found {
			return strconv.ParseFloat(number, 64)
		}
	}
	return 0, errors.Join(fmt.Errorf("%s has no line %q", path, text), lines.Err())
}

// folderSize returns what the files of a folder take. One that vanishes meanwhile takes nothing.
func folderSize(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
