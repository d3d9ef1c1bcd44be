// Command expiry rotates refresh tokens on PostgreSQL for a while, in time that runs faster, and prints
// how large the tables are: with expiry they have to stay level.
//
//	go -C internal/test/campaigns run ./expiry --url postgres://... --minutes 30 --days 120
//
// Callers sign in again and again: a code, its exchange, some rotations. The sweep runs beside them as
// it does in a service. It exits with 1 if the tables of the last third of the time are larger
// than those of the middle third by more than a quarter, or if any call failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

const (
	lifetime = 30 * 24 * time.Hour
	rotated  = 5 // times each grant is

	codeLives = 12 * time.Hour // which is some seconds of the time outside
)

func main() {
	url := flag.String("url", os.Getenv("KEYSTILE_POSTGRES_URL"), "the database")
	minutes := flag.Float64("minutes", 30, "how long")
	callers := flag.Int("callers", 8, "how many rotate at once")
	days := flag.Float64("days", 120, "how much time passes meanwhile, as the tokens see it")
	flag.Parse()
	if err := run(*url, time.Duration(*minutes*float64(time.Minute)), time.Duration(*days*24*float64(time.Hour)),
		*callers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// world is a store in which time runs faster.
type world struct {
	*postgres.Store
	began, start time.Time
	speed        float64
	rotations    atomic.Int64
	swept        atomic.Int64
}

func (w *world) now() time.Time {
	return w.start.Add(time.Duration(float64(time.Since(w.began)) * w.speed))
}

func run(url string, real, seen time.Duration, callers int) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), real)
	defer cancel()
	schema := fmt.Sprintf("expiry_%d", os.Getpid())
	s, err := postgres.Open(ctx, url, postgres.Options{Schema: schema})
	if err != nil {
		return err
	}
	defer s.Close()
	look, err := newWatch(context.Background(), url, schema)
	if err != nil {
		return err
	}
	defer look.close()
	w := &world{Store: s, began: time.Now(), start: time.Now(), speed: float64(seen) / float64(real)}
	failed := make(chan error, callers+1)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { failed <- w.signIns(ctx) })
	}
	wg.Go(func() { failed <- w.sweeps(ctx) })
	sizes, err := w.report(ctx, look)
	wg.Wait()
	for range callers + 1 {
		if failure := <-failed; failure != nil {
			return failure
		}
	}
	if err != nil {
		return err
	}
	third := len(sizes) / 3
	middle, last := mean(sizes[third:2*third]), mean(sizes[2*third:])
	fmt.Printf("the middle third: %.0f MB, the last: %.0f MB\n", middle, last)
	if third > 0 && last > middle*1.25 {
		return fmt.Errorf("the tables grow")
	}
	return nil
}

func mean(list []float64) (sum float64) {
	for _, x := range list {
		sum += x / float64(len(list))
	}
	return sum
}

// signIns signs one user in after another until the time is over.
func (w *world) signIns(ctx context.Context) error {
	for ctx.Err() == nil {
		t := w.token(driver.Token{Grant: handle.New("g_", w.now()), GrantedAt: w.now()}, driver.KindCode, codeLives)
		err := w.Issue(ctx, t)
		for range rotated {
			if err != nil {
				break
			}
			next := w.token(t, driver.KindRefresh, lifetime)
			if err = w.Exchange(ctx, t.Key, w.now(), next); err == nil {
				w.rotations.Add(1)
			}
			t = next
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (w *world) token(of driver.Token, kind string, lives time.Duration) driver.Token {
	now := w.now()
	return driver.Token{
		Key: handle.KeyOf(handle.New(handle.RefreshPrefix, now)), Kind: kind, Grant: of.Grant, GrantedAt: of.GrantedAt,
		AppID: "a1b2c3d4e5f6", UserID: "0123456789abcdef", Scope: "openid profile email offline_access",
		IssuedAt: now, ExpiresAt: now.Add(lives), AuthTime: of.GrantedAt, LoginType: "self",
	}
}

// sweeps removes what has ended, each second until nothing is left.
func (w *world) sweeps(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		for removed := 1; removed > 0 && ctx.Err() == nil; {
			var err error
			if removed, err = w.Sweep(ctx, w.now(), driver.Page); err != nil && ctx.Err() == nil {
				return err
			}
			w.swept.Add(int64(removed))
		}
	}
}

// report prints a line thirty times, and returns the sizes in MB.
func (w *world) report(ctx context.Context, look *watch) (sizes []float64, err error) {
	deadline, _ := ctx.Deadline()
	tick := time.NewTicker(time.Until(deadline) / 31)
	defer tick.Stop()
	fmt.Println(heading)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return sizes, nil
		}
		size, line, err := look.line()
		if err != nil {
			return sizes, err
		}
		fmt.Printf("%6.1f %10d %10d %s\n", w.now().Sub(w.start).Hours()/24, w.rotations.Load(), w.swept.Load(), line)
		sizes = append(sizes, size)
	}
}
