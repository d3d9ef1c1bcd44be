package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	if attackAsOrdered(os.Args) {
		return
	}
	o := options{out: os.Stdout}
	flag.StringVar(&o.scenario, "scenario", "addresses", "addresses, connections or onesite")
	flag.Float64Var(&o.scale, "scale", 1, "of all numbers")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "draws the same requests again")
	flag.StringVar(&o.binary, "binary", "", "the keystile to flood; without it, cmd/keystile is built")
	flag.StringVar(&o.only, "only", "", "of the connections, the attack whose name contains this")
	flag.BoolVar(&o.keep, "keep", false, "keep the data folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	broken, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "flood:", err)
	}
	switch {
	case len(broken) > 0:
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

type options struct {
	scenario, binary, only string
	scale                  float64
	seed                   uint64
	keep                   bool
	hurry                  bool // honest people do not pause, and nothing is asked of time: in tests
	out                    io.Writer
}

// of scales a number.
func (o options) of(n int) int { return max(1, int(float64(n)*o.scale)) }

func (o options) printf(format string, args ...any) { fmt.Fprintf(o.out, format, args...) }

var scenarios = map[string]func(context.Context, options, string) (verdict, error){
	"addresses": addresses, "connections": connections, "onesite": oneSite,
}

// run is the whole program but its exit. It returns the promises that were broken; an error
// means that the question could not be asked.
func run(ctx context.Context, o options) (broken []string, err error) {
	scenario := scenarios[o.scenario]
	if scenario == nil {
		return nil, fmt.Errorf("there is no scenario %q; choose addresses, connections or onesite", o.scenario)
	}
	if o.scale <= 0 || o.scale > 1 {
		return nil, fmt.Errorf("a scale of %v makes no sense; it is above 0 and at most 1", o.scale)
	}
	dir, err := os.MkdirTemp("", "keystile-flood-")
	if err != nil {
		return nil, err
	}
	if o.binary == "" {
		if o.binary, err = build(ctx, dir); err != nil {
			return nil, err
		}
	}
	v, err := scenario(ctx, o, filepath.Join(dir, "data"))
	for _, b := range v.broken {
		o.printf("BROKEN: %s\n", b)
	}
	if err == nil && len(v.broken) == 0 {
		o.printf("kept: all promises (seed %d)\n", o.seed)
	}
	if o.keep {
		o.printf("the data folder: %s\n", dir)
		return v.broken, err
	}
	return v.broken, errors.Join(err, os.RemoveAll(dir))
}

// verdict holds the findings of a scenario.
type verdict struct{ broken []string }

// want notes a broken promise unless it is kept.
func (v *verdict) want(kept bool, format string, args ...any) {
	if !kept {
		v.broken = append(v.broken, fmt.Sprintf(format, args...))
	}
}
