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
	flag.IntVar(&o.cycles, "cycles", 10, "how often the server is killed")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(),
		"draws the same work and the same moments again, as far as a machine repeats itself")
	flag.BoolVar(&o.keep, "keep", false, "keep the data folder and write the journal beside it")
	flag.StringVar(&o.binary, "binary", "", "the keystile to kill; without it, cmd/keystile is built")
	flag.IntVar(&o.longOnes, "long", 0, "one life in so many lasts 61 to 150 s; 0: none does")
	flag.DurationVar(&o.wait, "wait", 3*time.Second,
		"how long, at the end, webhooks and mails are waited for; a webhook that has not come is a violation if it is 75s "+
			"or more, a mail if it is 170s or more: what a kill has cut off comes when its lease is over")
	flag.StringVar(&o.storage, "storage", "bolt",
		"where the store is: bolt, or postgres, a server of its own that is killed too")
	flag.IntVar(&o.nodes, "nodes", 1, "how many servers share a database; requests go to one after the other")
	flag.StringVar(&o.plant, "plant", "", "build a fault into the program, which the campaign has to find: "+plantNames())
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	broken, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
	}
	switch {
	case broken:
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

type options struct {
	cycles int
	seed   uint64
	keep   bool
	binary string

	longOnes int
	wait     time.Duration
	plant    string
	storage  string
	nodes    int
}

// run is the whole program but its exit. It reports whether the server broke its word; an
// error means that the question could not be asked.
func run(ctx context.Context, o options) (broken bool, err error) {
	if o.plant != "" && o.binary != "" {
		return false, errors.New("--plant builds a program of its own: leave --binary out")
	}
	dir, err := os.MkdirTemp("", "keystile-crash-")
	if err != nil {
		return false, err
	}
	began := time.Now()
	if o.binary == "" {
		if o.binary, err = build(ctx, dir, o.plant, o.storage); err != nil {
			return false, err
		}
	}
	built := time.Since(began)
	c, err := newCampaign(ctx, o, filepath.Join(dir, "data"))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	err = c.run(ctx)
	c.report(os.Stdout, time.Since(began)-built)
	broken = len(c.journal.violations) > 0
	if !o.keep && !broken {
		return false, errors.Join(err, os.RemoveAll(dir))
	}
	fmt.Printf("\nkept: %s (seed %d)\n", dir, o.seed)
	return broken, errors.Join(err, c.journal.writeFile(filepath.Join(dir, "journal.txt")))
}
