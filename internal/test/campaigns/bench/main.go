//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	b := &bench{idle: time.Second, record: new(recorder)}
	only := flag.Int("row", 0, "the one row to measure")
	flag.DurationVar(&b.seconds, "seconds", 2*time.Second, "how long each contender works in a round")
	flag.IntVar(&b.turns, "rounds", 5, "how many rounds")
	flag.BoolVar(&b.large, "large", false, "rows 3 and 10 with a million tokens too")
	flag.BoolVar(&b.peers, "peers", false, "rows 1 and 6 of another OpenID provider too, and the call of row 4 through "+
		"nginx, Caddy and HAProxy, where they are installed")
	flag.StringVar(&b.binary, "binary", "", "the keystile to measure; without it, cmd/keystile is built")
	flag.StringVar(&b.against, "against", "", "another keystile, measured in the same rounds")
	flag.BoolVar(&b.pair, "pair", false, "load all contenders at the same time, and hold their processor time against "+
		"each other, not their rates: fair on a machine where others work too")
	flag.StringVar(&b.record.perf, "perf", "", "the folder for what perf records of each server while it counts")
	flag.StringVar(&b.record.strace, "strace", "", "the folder for the system calls of each server, counted by strace, "+
		"which slows them")
	grow := flag.String("growth", "", "sizes of stores, such as 1000,100000,1000000: measure what becomes slower with "+
		"as many tokens, users, applications, audit records and rows of usage, instead of the rows")
	flag.StringVar(&b.postgres, "postgres", "", "the address of a PostgreSQL server, for the stores of --growth and of "+
		"rows 3 and 10 in its place: postgres://...")
	plot := flag.String("plot", "", "the file for a picture of --growth, SVG")
	floor := flag.Bool("floor", false, "be the floor instead")
	proxy := flag.String("proxy", "", "be a reverse proxy to this address instead, with --floor")
	flag.Parse()
	err := errors.New("seconds and rounds must be more than nothing")
	switch {
	case *floor:
		err = serveFloor(*proxy)
	case b.seconds > 0 && b.turns > 0:
		err = b.within(func() error {
			if *grow == "" {
				return b.run(*only)
			}
			return b.growth(*grow, *plot)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	seconds  time.Duration
	turns    int
	large    bool
	peers    bool
	binary   string
	against  string        // another one to be measured beside it, if any
	postgres string        // where stores are, in schemas of their own; "": in data folders
	pair     bool          // all contenders work at the same time
	record   *recorder     // nil: nothing is recorded
	dir      string        // everything it makes
	self     string        // the program that can be the floor
	idle     time.Duration // how long a server rests before its memory is read
	loudest  float64       // the most that others took in a round that counts
}

// rows in the order of the table.
var rows = []struct {
	number  int
	measure func(*bench) ([]figure, error)
}{
	{1, (*bench).machineTokens},
	{2, (*bench).codes},
	{3, (*bench).rotations},
	{4, (*bench).proxied},
	{5, (*bench).userInfo},
	{6, (*bench).documents},
	{10, (*bench).starts},
}

// within measures in a folder that is made for it, and removed.
func (b *bench) within(measure func() error) (err error) {
	if b.dir, err = os.MkdirTemp("", "keystile-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.prepare(); err != nil {
		return err
	}
	return measure()
}

// run measures all rows, or one, and prints the table.
func (b *bench) run(only int) error {
	fmt.Printf("%s, %d processors, %s; medians of %d rounds of %v\n", runtime.Version(), runtime.NumCPU(),
		time.Now().Format(time.DateOnly), b.turns, b.seconds)
	if b.pair {
		fmt.Println("All contenders at the same time: ratios are of work in a second of a server's processors, and goals " +
			"are not held against them.")
	}
	fmt.Println()
	printHead(os.Stdout)
	for _, row := range rows {
		if only != 0 && only != row.number {
			continue
		}
		figures, err := row.measure(b)
		if err != nil {
			return fmt.Errorf("row %d: %w", row.number, err)
		}
		for _, f := range figures {
			if b.pair && f.ofRates() {
				f.goal = noGoal
			}
			f.print(os.Stdout, row.number)
		}
	}
	fmt.Printf("\nOther processes took up to %.0f %% of the processors in a round that counts.\n", 100*b.loudest)
	return nil
}

// prepare finds the programs.
func (b *bench) prepare() (err error) {
	if b.self, err = os.Executable(); err == nil && b.binary == "" {
		b.binary, err = b.compile(".", "keystile", "build", "-trimpath", "-ldflags=-s -w",
			"github.com/keystile/keystile/cmd/keystile")
	}
	return err
}

// compile runs the go command in a folder of the repository, with what is to be made under a name.
func (b *bench) compile(in, name, verb string, args ...string) (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/keystile/keystile").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	path := filepath.Join(b.dir, name)
	words := append([]string{verb}, args[:len(args)-1]...)
	if verb == "test" {
		words = append(words, "-c")
	}
	cmd := exec.Command("go", append(words, "-o", path, args[len(args)-1])...)
	cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), in)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return path, nil
}

func (b *bench) floor(more ...string) (*process, error) {
	return spawn(listening, nil, b.self, append([]string{"--floor"}, more...)...)
}

// service opens a new data folder.
func (b *bench) service(name string, more ...string) (*service, error) {
	return open(b.binary, filepath.Join(b.dir, name), more...)
}

// services opens a data folder for the keystile that is measured, and for that which it is
// measured against.
func (b *bench) services(name string, more ...string) (hs []*service, stop func(), err error) {
	stop = func() {
		for _, h := range hs {
			h.stop()
		}
	}
	for i, binary := range b.binaries() {
		h, err := open(binary, filepath.Join(b.dir, name+strconv.Itoa(i)), more...)
		if err != nil {
			stop()
			return nil, nil, err
		}
		hs = append(hs, h)
	}
	return hs, stop, nil
}

// binaries are the keystiles that are measured.
func (b *bench) binaries() []string {
	if b.against == "" {
		return []string{b.binary}
	}
	return []string{b.binary, b.against}
}

// compared is a line for each of the keystiles after the first, of the samples of all.
func (b *bench) compared(s [][]sample) (figures []figure) {
	for _, other := range s[1:] {
		r, spread := ratio(s[0], other, b.speed())
		fast, _ := ratio(s[0], other, rate)
		used, _ := ratio(s[0], other, cpu)
		half, _ := ratio(s[0], other, p50)
		figures = append(figures, figure{work: "the same, in the same rounds", beside: "the other keystile", goal: 1,
			value: r, spread: spread, cpu: median(other, cpu),
			note: fmt.Sprintf("%.3f as fast, with %.3f of its processor time, p50 %.3f of its", fast, used, half)})
	}
	return figures
}
