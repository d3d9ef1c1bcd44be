package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	o := options{}
	flag.IntVar(&o.nodes, "nodes", 2, "how many nodes there are")
	flag.IntVar(&o.cycles, "cycles", 8, "how many faults there are")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(),
		"draws the same faults and the same work again, as far as a machine repeats itself")
	flag.StringVar(&o.faults, "faults", "",
		"the kinds of faults, separated by commas; without it, all that this machine allows: "+faultNames())
	flag.DurationVar(&o.pause, "pause", 3*time.Second, "how long a process is stopped at most, from 1s to 30s")
	flag.DurationVar(&o.calm, "calm", time.Second, "the time between two faults")
	flag.BoolVar(&o.redis, "redis", true, "whether the nodes count together in a Redis; else each counts alone")
	flag.BoolVar(&o.loopback, "loopback", false,
		"use ports of the loopback address, also where there could be network namespaces")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders and the logs")
	flag.BoolVar(&o.verbose, "v", false, "print each fault as it comes")
	flag.StringVar(&o.binary, "binary", "",
		"the keystile to run; without it, cmd/keystile is built, with a clock that can be bent")
	flag.StringVar(&o.next, "next", "",
		"beside --binary, a keystile whose tables are a step ahead, for the rolling restart to it")
	flag.StringVar(&o.plant, "plant", "", "build a fault into the program, which the campaign has to find: "+plantNames())
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	broken, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
	}
	switch {
	case broken:
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

type options struct {
	nodes, cycles int
	seed          uint64
	faults        string
	pause, calm   time.Duration

	redis, loopback, keep, verbose bool
	binary, next, plant            string
}

func (o options) check() error {
	switch {
	case o.nodes < 2:
		return errors.New("--nodes: a cluster has two or more")
	case o.pause < time.Second || o.pause > 30*time.Second:
		return errors.New("--pause: give 1s to 30s")
	case o.plant != "" && o.binary != "":
		return errors.New("--plant builds a program of its own: leave --binary out")
	}
	return nil
}

// newFolder makes a folder that other users may pass through, because some servers refuse to be root.
func newFolder() (string, error) {
	dir, err := os.MkdirTemp("", "keystile-cluster-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	return dir, err
}

// run is the whole program but its exit. It reports whether a promise was broken; an error means
// that the question could not be asked.
func run(ctx context.Context, o options) (broken bool, err error) {
	if err := o.check(); err != nil {
		return false, err
	}
	dir, err := newFolder()
	if err != nil {
		return false, err
	}
	if o.binary == "" {
		o.binary, err = build(ctx, dir, o.plant)
		if err == nil && o.plant == "" {
			o.next, err = buildNext(ctx, dir)
		}
		if err != nil {
			return false, errors.Join(err, os.RemoveAll(dir))
		}
	}
	c, err := newCampaign(ctx, o, dir)
	if err != nil {
		return false, errors.Join(err, os.RemoveAll(dir))
	}
	err = c.run(ctx)
	c.report(os.Stdout)
	broken = len(c.model.violations) > 0
	if o.keep || broken {
		err = errors.Join(err, c.site.saveLogs(filepath.Join(dir, "logs")))
		fmt.Printf("\nkept: %s (seed %d)\n", dir, o.seed)
	}
	err = errors.Join(err, c.close())
	if !o.keep && !broken {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return broken, err
}
