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
	flag.StringVar(&o.storage, "storage", "postgres",
		"postgres, in a server of its own, or bolt, which one node has alone")
	flag.IntVar(&o.nodes, "nodes", 3, "how many nodes share PostgreSQL; the first is never restarted")
	flag.Float64Var(&o.minutes, "minutes", 30, "how long the load lasts")
	flag.Float64Var(&o.share, "share", 0.5, "the load, as a share of what the calibration finds")
	flag.Float64Var(&o.rate, "rate", 0, "the load in acts a second; without it, there is a calibration")
	flag.IntVar(&o.people, "people", 24, "how many people and programs ask at once")
	flag.DurationVar(&o.every, "every", 0,
		"the time between two events; without it, such that each comes at least once, and 45s at most")
	flag.StringVar(&o.events, "events", "",
		"the kinds of events, separated by commas; without it, all that there are: "+eventNames())
	flag.Float64Var(&o.slower, "slower", 3, "by which factor the median time of a kind of request may grow")
	flag.BoolVar(&o.redis, "redis", true, "whether nodes count together in a Redis, if one is installed")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "draws the same work again, as far as a machine repeats itself")
	flag.StringVar(&o.json, "json", "", "a file for the report as JSON")
	flag.StringVar(&o.binary, "binary", "", "the keystile to run; without it, cmd/keystile is built, with a small cache")
	flag.StringVar(&o.plant, "plant", "", "build a fault into the program, which the soak has to find: "+plantNames())
	flag.BoolVar(&o.keep, "keep", false, "keep the folders and the logs")
	flag.BoolVar(&o.verbose, "v", false, "print each event as it comes, and what the first node takes each minute")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	red, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	switch {
	case red:
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

type options struct {
	storage, events, json, binary, plant string
	nodes, people                        int
	minutes, share, rate, slower         float64
	every                                time.Duration
	redis, keep, verbose                 bool
	seed                                 uint64
}

func (o options) length() time.Duration { return time.Duration(o.minutes * float64(time.Minute)) }

func (o options) check() error {
	switch {
	case o.storage != "postgres" && o.storage != "bolt":
		return errors.New("--storage: give postgres or bolt")
	case o.nodes < 1 || o.nodes > 1 && o.storage == "bolt":
		return errors.New("--nodes: give 1 or more, and 1 with --storage bolt")
	case o.length() < 20*time.Second:
		return errors.New("--minutes: in less than 20 s nothing can be judged")
	case o.people < 4:
		return errors.New("--people: give 4 or more")
	case o.rate == 0 && (o.share <= 0 || o.share > 1):
		return errors.New("--share: give more than 0, and 1 at most")
	case o.rate < 0:
		return errors.New("--rate: give a number of acts a second")
	case o.slower < 1:
		return errors.New("--slower: give 1 or more")
	case o.plant != "" && o.binary != "":
		return errors.New("--plant builds a program of its own: leave --binary out")
	}
	return nil
}

// run is the whole program but its exit. It reports whether a promise was broken; an error means that
// the question could not be asked.
func run(ctx context.Context, o options) (red bool, err error) {
	if err := o.check(); err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "keystile-soak-")
	if err != nil {
		return false, err
	}
	if o.binary == "" {
		if o.binary, err = build(ctx, dir, o.plant); err != nil {
			return false, errors.Join(err, os.RemoveAll(dir))
		}
	}
	s, err := newSoak(ctx, o, dir)
	if err != nil {
		return false, errors.Join(err, os.RemoveAll(dir))
	}
	err = s.run(ctx)
	r := s.report()
	r.print(os.Stdout)
	if o.json != "" {
		err = errors.Join(err, r.write(o.json))
	}
	red = len(r.Violations) > 0
	if o.keep || red {
		err = errors.Join(err, s.site.saveLogs(filepath.Join(dir, "logs")))
		fmt.Printf("\nkept: %s (seed %d)\n", dir, o.seed)
	}
	err = errors.Join(err, s.site.close())
	if !o.keep && !red {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return red, err
}
