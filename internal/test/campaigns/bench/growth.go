//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// growth measures what becomes slower, or larger, with what a store holds. For each size there is a service with as
// many refresh tokens, users, applications, records of the trail and rows of usage.
func (b *bench) growth(list, plot string) error {
	sizes, err := sizesOf(list)
	if err != nil {
		return err
	}
	var all []measured
	for _, n := range sizes {
		m, err := b.grown(n)
		if err != nil {
			return fmt.Errorf("with %d of each: %w", n, err)
		}
		all = append(all, m)
		fmt.Fprintf(os.Stderr, "measured with %d of each\n", n)
		if plot != "" { // after each size, as the largest one may take hours
			if err := os.WriteFile(plot, drawGrowth(all), 0o600); err != nil {
				return err
			}
		}
		printGrowth(os.Stdout, all)
	}
	return nil
}

// measured has the figures of one size, in the order in which they are printed.
type measured struct {
	n       int
	figures []grew
}

// grew is one figure, and its unit.
type grew struct {
	name, unit string
	value      float64
}

func (m *measured) add(name, unit string, value float64) {
	m.figures = append(m.figures, grew{name, unit, value})
}

// grown fills a store and measures its service.
func (b *bench) grown(n int) (m measured, err error) {
	m.n = n
	s, err := b.stocked(b.binary, fmt.Sprint("growth-", n), n)
	if err != nil {
		return m, err
	}
	s.stop()
	c, err := s.crowded(n)
	if err != nil {
		return m, err
	}
	if err := s.atRest(b, &m); err != nil {
		return m, err
	}
	if s.service, err = openOn(s.store, b.binary, s.data); err != nil {
		return m, err
	}
	err = s.inUse(b, c, &m)
	if err == nil && s.store == nil { // a database has its own backups
		err = s.backup(&m)
	}
	s.stop()
	return m, errors.Join(err, s.drop())
}

// atRest measures the file, a sweep that finds nothing, and starts.
func (s *stock) atRest(b *bench, m *measured) error {
	size, err := s.size()
	if err != nil {
		return err
	}
	m.add("file, or tables", "MB", size/1e6)
	store, err := s.backend()
	if err != nil {
		return err
	}
	began := time.Now()
	_, err = store.Sweep(context.Background(), began, 1000)
	m.add("sweep that finds nothing", "ms", milliseconds(time.Since(began)))
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	var starts []start
	for range max(b.turns, 3) {
		one, err := s.restart(b.idle)
		if err != nil {
			return err
		}
		starts = append(starts, one)
	}
	m.add("start", "ms", middle(each(starts, func(s start) float64 { return s.took })))
	m.add("memory at rest", "MB", middle(each(starts, func(s start) float64 { return s.resident })))
	return nil
}

// inUse measures what people and applications do.
func (s *stock) inUse(b *bench, c crowd, m *measured) error {
	work := []contender{s.load("rotation", 8), {"sign-in", s.process, 2, s.signIn(c)}}
	for _, k := range work {
		samples, err := b.rounds(k)
		if err != nil {
			return err
		}
		m.add(k.name+", processor", "us", median(samples[0], cpu))
		m.add(k.name+", p50", "ms", median(samples[0], p50)/1e3)
	}
	someone := c.users[len(c.users)/2]
	for _, p := range []struct{ name, path, holds string }{
		{"users page", "/console/users", "person-"},
		{"user found by name", "/console/users?q=" + someone.Username, someone.Username},
		{"applications page", "/console/apps", "Application "},
		{"usage page", "/console/usage", ""},
		{"audit page", "/console/audit", ""},
		{"audit of one user", "/console/audit?user=" + url.QueryEscape(someone.Sub), someone.Sub},
	} {
		took, err := s.page(p.path, p.holds)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		m.add(p.name, "ms", took)
	}
	return nil
}

// signIn is the work of signing in as one user after another.
func (s *stock) signIn(c crowd) func(int, *conn) error {
	return func(_ int, on *conn) error {
		u := c.users[rand.IntN(len(c.users))]
		form := url.Values{"username": {u.Username}, "password": {s.admin.Password}}
		return errors.Join(on.post("/oauth/signin", form.Encode()), on.want(http.StatusSeeOther))
	}
}

// page returns how long a page of the console takes, in milliseconds, as the median of some. It fails if the page does
// not hold a text.
func (s *stock) page(path, holds string) (float64, error) {
	var took []float64
	for range 9 {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.address+path, nil)
		if err != nil {
			return 0, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(s.cookie, "Cookie: ")), "=")
		r.AddCookie(&http.Cookie{Name: name, Value: value})
		began := time.Now()
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return 0, err
		}
		text, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return 0, err
		}
		took = append(took, milliseconds(time.Since(began)))
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(text), holds) {
			return 0, fmt.Errorf("%s answers %s without %q", path, resp.Status, holds)
		}
	}
	return middle(took), nil
}

// backup measures a copy of the store while the service runs.
func (s *stock) backup(m *measured) error {
	to := filepath.Join(s.data, "copy.db")
	began := time.Now()
	if err := s.command("backup", to); err != nil {
		return err
	}
	m.add("backup", "ms", milliseconds(time.Since(began)))
	return os.Remove(to)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// printGrowth prints a line for each figure and a column for each size.
func printGrowth(w io.Writer, all []measured) {
	head, rule := "| | unit |", "|---|---|"
	for _, m := range all {
		head, rule = head+" "+strconv.Itoa(m.n)+" |", rule+"---|"
	}
	fmt.Fprintln(w, head+"\n"+rule)
	for i, f := range all[0].figures {
		fmt.Fprintf(w, "| %s | %s |", f.name, f.unit)
		for _, m := range all {
			fmt.Fprintf(w, " %s |", number(m.figures[i].value))
		}
		fmt.Fprintln(w)
	}
}

// sizesOf reads numbers with commas between them, the smallest first.
func sizesOf(text string) (sizes []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no size of a store", part)
		}
		sizes = append(sizes, n)
	}
	if !slices.IsSorted(sizes) {
		return nil, errors.New("the sizes of stores are to rise")
	}
	return sizes, nil
}
