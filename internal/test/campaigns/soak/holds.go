package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// frequent bounds the kinds of goroutines and files that are shown.
const frequent = 3

// holds says what most of the goroutines and files of a node are.
func (n *node) holds() map[string]string {
	return map[string]string{goroutines: n.stacks(), files: openFiles(n.PID())}
}

// stacks are those that most goroutines have.
func (n *node) stacks() string {
	resp, err := operator.Get("http://" + n.admin + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(text), "\n\n") // the most frequent come first
	return strings.Join(all[:min(frequent, len(all))], "\n")
}

// numbers match what two sockets or pipes differ by.
var numbers = regexp.MustCompile(`[0-9]+`)

// openFiles counts what the files of a process are.
func openFiles(pid int) string {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is good
	counts := map[string]int{}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			counts[numbers.ReplaceAllString(to, "N")]++
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var said []string
	for _, name := range names[:min(frequent, len(names))] {
		said = append(said, fmt.Sprintf("%d are %s", counts[name], name))
	}
	return strings.Join(said, "\n")
}
