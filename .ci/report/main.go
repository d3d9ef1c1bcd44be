// Command report reads the output of go test -json from standard input and prints what a
// person wants of it: each package's line, the figures that tests note, whatever failed or
// was skipped with its output, and what took longest. It exits 1 if anything failed or was skipped.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// event is one line of go test -json (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64 // seconds
	Output  string
}

type tally struct {
	passed, failed, skipped int
	output                  map[string][]string // by package and test
	explained               map[string]bool     // packages with a failed test
	timed                   []event
}

func main() {
	t := tally{output: map[string][]string{}, explained: map[string]bool{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text()) // a build failure of an older shape
			continue
		}
		t.add(e)
	}
	t.slowest(10)
	fmt.Printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	if t.failed+t.skipped > 0 || t.passed == 0 || lines.Err() != nil {
		os.Exit(1)
	}
}

func (t *tally) add(e event) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		t.output[name] = append(t.output[name], e.Output)
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL") ||
			strings.HasPrefix(e.Output, "?")) {
			fmt.Print(e.Output)
		}
		if _, figure, ok := strings.Cut(e.Output, "note: "); ok {
			fmt.Print("      ", figure)
		}
	case "pass", "fail", "skip":
		t.end(e, name)
	case "build-fail":
		t.failed++
		fmt.Print(strings.Join(t.output[name], ""))
	}
}

func (t *tally) end(e event, name string) {
	if e.Test == "" && (e.Action != "fail" || t.explained[e.Package]) {
		return // a package without tests is a skip of no test
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
		t.explained[e.Package] = true
		fmt.Printf("--- FAIL %s\n%s", name, strings.Join(t.output[name], ""))
	case "skip":
		t.skipped++
		fmt.Printf("--- SKIP %s: nothing may be skipped here\n%s", name, strings.Join(t.output[name], ""))
	}
	t.timed = append(t.timed, e)
	delete(t.output, name)
}

func (t *tally) slowest(n int) {
	slices.SortFunc(t.timed, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	fmt.Println("slowest tests:")
	for _, e := range t.timed[:min(n, len(t.timed))] {
		fmt.Printf("%8.2fs  %s %s\n", e.Elapsed, e.Package, e.Test)
	}
}
