package storage_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// agree fails unless what is counted is what is there.
func agree(t testing.TB, s *storage.Store) storage.Counts {
	t.Helper()
	got, err := s.Counts(t.Context())
	want, err2 := s.Recount(t.Context())
	want.Whole = got.Whole
	if err = errors.Join(err, err2); err != nil || got != want {
		t.Fatalf("Counts = %+v, there are %+v, %v", got, want, err)
	}
	return got
}

// walked runs the background work until everything is counted.
func walked(t testing.TB, s *storage.Store) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { s.SweepEvery(ctx, time.Hour, func(err error) { t.Error(err) }) })
	for ctx.Err() == nil {
		if c, err := s.Counts(ctx); err == nil && c.Whole {
			stop()
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	all.Wait()
	if c := agree(t, s); !c.Whole {
		t.Fatal("not everything is counted after a minute")
	}
}

var countsKey = storage.NewMasterKey()

// nodesOver opens stores over one backend, as several processes do.
func nodesOver(t testing.TB, b driver.Backend, n int) (all []*storage.Store) {
	t.Helper()
	for range n {
		s, err := storage.Open(t.Context(), b, countsKey)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func openOrder(a storage.App) storage.Order {
	return storage.Order{ID: handle.NewOrderID(time.Now()), AppID: a.ID, Owner: a.Owner, By: "x",
		Status: storage.OrderPending, From: storage.TierFree, Tier: storage.TierWhiteLabel, CreatedAt: time.Now().UTC()}
}

// disturb does at random what changes the counts, and what must not.
func disturb(t testing.TB, s *storage.Store, seed uint64, rounds int) {
	r, ctx := rand.New(rand.NewPCG(seed, 1)), t.Context()
	lost := func(err error) bool {
		if err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) &&
			!errors.Is(err, storage.ErrExists) {
			t.Error(err)
		}
		return err != nil
	}
	for i := range rounds {
		owner := fmt.Sprint("u", r.IntN(3))
		page, _, err := s.Apps(ctx, "", "", 20)
		if lost(err) {
			return
		}
		if len(page) == 0 {
			page = []storage.App{{}}
		}
		a := page[r.IntN(len(page))]
		switch what := r.IntN(8); {
		case what == 0:
			_, err := s.CreateUser(ctx, storage.User{Username: fmt.Sprint("n", seed, "x", i)})
			lost(err)
		case what < 3 || a.ID == "":
			made, err := s.CreateApp(ctx, storage.App{Name: "Shop", Domains: []string{"a.example.com"}, Owner: owner,
				Counted: r.IntN(2) == 0}, 0, storage.Quota{})
			if !lost(err) {
				made.Name = "Store"
				_, err := s.SaveApp(ctx, made)
				lost(err)
			}
		case what == 3:
			a.Name = fmt.Sprint("Shop ", i)
			_, err := s.SaveApp(ctx, a)
			lost(err)
		case what == 4:
			if a.Order == "" {
				o := openOrder(a)
				a.Order = o.ID
				_, _, err := s.SaveOrder(ctx, o, a)
				lost(err)
				continue
			}
			o, err := s.Order(ctx, a.Order)
			if lost(err) {
				continue
			}
			o.Status = []string{storage.OrderContact, storage.OrderCanceled}[r.IntN(2)]
			if !o.Open() {
				a.Order = ""
			}
			_, _, err = s.SaveOrder(ctx, o, a)
			lost(err)
		case what == 5:
			_, err := s.GiveApp(ctx, a, owner)
			lost(err)
		case what == 6:
			var canceled []storage.Order
			if o, err := s.Order(ctx, a.Order); err == nil && o.Open() {
				o.Status = storage.OrderCanceled
				canceled = append(canceled, o)
			}
			lost(s.DeleteApp(ctx, a, storage.Quota{}, canceled...))
		case what == 7:
			_, err := s.SaveApp(ctx, storage.App{ID: "ks-" + fmt.Sprintf("%020d", seed*1000+uint64(i)), Name: "Agent",
				Public: true, Client: &client.Description{Kind: client.Dynamic, AuthMethod: client.AuthNone,
					RedirectURIs: []string{"http://127.0.0.1/cb"}, Grants: []string{"authorization_code"}}})
			lost(err)
		}
	}
}

func TestCountsAreExactHoweverManyWriteAtOnce(t *testing.T) {
	for name, backend := range map[string]func() driver.Backend{
		"memory": func() driver.Backend { return memory.New() },
		"bolt": func() driver.Backend {
			b, err := bolt.Open(filepath.Join(t.TempDir(), "k.db"), bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := backend()
			defer b.Close()
			several := nodesOver(t, b, 3)
			var all sync.WaitGroup
			for i := range 9 {
				all.Go(func() { disturb(t, several[i%3], uint64(i+1), 60) })
			}
			all.Wait()
			if c := agree(t, several[0]); c.Apps == 0 || c.Users == 0 {
				t.Errorf("nothing was done: %+v", c)
			}
			walked(t, several[1])
		})
	}
}

// age makes a document what a version before search and counts would have written.
func age(d *driver.Doc) {
	d.Data = bytes.Replace(d.Data, []byte(`,"counted":true`), nil, 1)
	d.Index = slices.DeleteFunc(d.Index, func(e string) bool {
		return strings.HasPrefix(e, "find") ||
			d.Kind == "counter"
	})
	if d.Kind == "counter" && d.ID != "user" || d.Kind == "format" {
		d.Deleted = true
	}
}

// older takes from every document what a version before search and counts did not write.
func older(t testing.TB, b driver.Backend) {
	t.Helper()
	for kind, entries := range map[string][]string{"user": {"all"}, "app": {"all", "client"}, "order": {"all"},
		"counter": {"all"}} {
		for _, e := range entries {
			docs, _, err := b.List(t.Context(), kind, driver.Is(e), driver.Page)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				age(&d)
				if _, err := b.Put(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// oldWorld makes users, applications and orders, and takes from them what is new.
func oldWorld(t testing.TB, b driver.Backend, n int) {
	t.Helper()
	s := nodesOver(t, b, 1)[0]
	for i := range n {
		if _, err := s.CreateUser(t.Context(), storage.User{Username: fmt.Sprint("user", i)}); err != nil {
			t.Fatal(err)
		}
		a, err := s.SaveApp(t.Context(), storage.App{Name: fmt.Sprint("Shop ", i), Domains: []string{"a.example.com"},
			Owner: "u1"})
		if err == nil && i%3 == 0 {
			o := openOrder(a)
			a.Order = o.ID
			_, _, err = s.SaveOrder(t.Context(), o, a)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	older(t, b)
}

// stopped is a Backend that breaks at one of its Puts, before or after it was done: what a kill leaves.
type stopped struct {
	driver.Backend
	mu    sync.Mutex
	left  int
	after bool
}

var errKilled = errors.New("killed")

func (k *stopped) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	k.mu.Lock()
	k.left--
	left := k.left
	k.mu.Unlock()
	switch {
	case left < 0, left == 0 && !k.after:
		return 0, errKilled
	case left == 0:
		_, err := k.Backend.Put(ctx, docs...)
		return 0, errors.Join(err, errKilled)
	}
	return k.Backend.Put(ctx, docs...)
}

// A walk that is killed at any of its writes goes on where it was, and counts nothing twice.
func TestWalkGoesOnWhereItWasKilled(t *testing.T) {
	for puts := 1; puts <= 12; puts++ {
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := memory.New()
				oldWorld(t, b, 200)
				if c, err := nodesOver(t, b, 1)[0].Counts(t.Context()); err != nil || c.Whole || c.Apps != 0 || c.Users != 200 {
					t.Fatalf("before: %+v, %v", c, err)
				}
				first := nodesOver(t, &stopped{Backend: b, left: puts, after: after}, 1)[0]
				ctx, stop := context.WithTimeout(t.Context(), time.Second)
				first.SweepEvery(ctx, time.Hour, func(error) {})
				stop()
				s := nodesOver(t, b, 1)[0]
				agreesSoFar(t, s)
				walked(t, s)
				found, _, err := s.FindUsers(t.Context(), "USER199", "", 10)
				if err != nil || len(found) != 1 {
					t.Errorf("killed at %d: user199 is found %d times, %v", puts, len(found), err)
				}
			})
		}
	}
}

// agreesSoFar fails if something is counted that is not marked, or the other way round.
func agreesSoFar(t testing.TB, s *storage.Store) {
	t.Helper()
	marked := int64(0)
	all, _, err := s.Apps(t.Context(), "", "", driver.Page)
	for _, a := range all {
		if a.Counted {
			marked++
		}
	}
	if c, err2 := s.Counts(t.Context()); errors.Join(err, err2) != nil || c.Apps != marked {
		t.Errorf("%d applications are marked, and %+v counted, %v", marked, c, errors.Join(err, err2))
	}
}

// A record that others change while the store is walked stays as they changed it.
func TestWalkTakesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.New()
		oldWorld(t, b, 300)
		several := nodesOver(t, b, 3)
		ctx, stop := context.WithCancel(t.Context())
		var walking, all sync.WaitGroup
		for _, s := range several[:2] {
			walking.Go(func() { s.SweepEvery(ctx, time.Hour, func(err error) { t.Error(err) }) })
		}
		users, _, err := several[2].Users(ctx, "", driver.Page)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			all.Go(func() { disturb(t, several[i%3], uint64(50+i), 100) })
		}
		for _, u := range users {
			all.Go(func() {
				_, err := storage.RetryOnConflict(ctx, func() (storage.User, error) {
					u, err := several[2].User(ctx, u.Sub)
					if err != nil {
						return u, err
					}
					u.Nickname = "changed " + u.Username
					return several[2].SaveUser(ctx, u)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		time.Sleep(time.Hour)
		stop()
		walking.Wait()
		if c := agree(t, several[2]); !c.Whole {
			t.Error("it has not ended")
		}
		for _, u := range users {
			if now, err := several[2].User(t.Context(), u.Sub); err != nil || now.Nickname != "changed "+u.Username {
				t.Errorf("%s: %+v, %v", u.Username, now, err)
			}
		}
		if n := len(everyone(t, several[2], "changed", 7)); n != 300 {
			t.Errorf("%d of 300 are found", n)
		}
	})
}

// everyone reads all pages of a search, and fails if somebody comes twice.
func everyone(t testing.TB, s *storage.Store, prefix string, n int) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for from := ""; ; {
		page, next, err := s.FindUsers(t.Context(), prefix, from, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range page {
			if seen[u.Username] {
				t.Errorf("%q: %s comes twice", prefix, u.Username)
			}
			seen[u.Username] = true
		}
		if from = next; next == "" {
			return seen
		}
	}
}

// Names that people choose to break things, and what they are found by.
func TestPersonIsFoundOnceByTheBeginningOfAnyName(t *testing.T) {
	s := nodesOver(t, memory.New(), 1)[0]
	long := strings.Repeat("ä", 5000)
	for _, u := range []storage.User{
		{Username: "ada", Nickname: "Ada", Name: "Ada Lovelace", Email: "ada@example.com"},
		{Username: "bob", Name: "\x1f\x00\x1f"},
		{Username: "carol", Name: "Ada\x1fx", Nickname: "ADA-2"},
		{Username: "dora", Name: long}, {Username: "emil", Name: "\u202eאבג"}, {Username: "fay", Name: "E\u0301va"},
		{Username: "gus", Name: "ｇａｄａ"}, {Username: "hal", Name: "\xff\xfe"},
	} {
		if _, err := s.CreateUser(t.Context(), u); err != nil {
			t.Fatalf("%q: %v", u.Username, err)
		}
	}
	for prefix, want := range map[string]string{
		"ada": "ada carol", "ADA": "ada carol", "ａｄａ": "ada carol", "ada@": "ada", "Ada Love": "ada", "adax": "carol",
		long: "dora", long[:200] + "b": "", strings.Repeat("Ä", 40): "dora", "אב": "emil", "\u200fאב": "emil", "Éva": "fay",
		"e\u0301v": "fay", "gada": "gus",
		"zz": "", "ada\xff": "ada carol", "find=": "", strings.Repeat("a", 1<<20): "",
	} {
		for n := 1; n <= 3; n++ {
			var got []string
			for name := range everyone(t, s, prefix, n) {
				got = append(got, name)
			}
			slices.Sort(got)
			if strings.Join(got, " ") != want {
				t.Errorf("%.20q, pages of %d: %q, want %q", prefix, n, got, want)
			}
		}
	}
	if got := everyone(t, s, "", 2); len(got) != 8 {
		t.Errorf("of 8 users %d are found by nothing: %v", len(got), got)
	}
}

// An owner finds their own, and no cursor leads out of it.
func TestOwnerFindsTheirOwnApplications(t *testing.T) {
	s := nodesOver(t, memory.New(), 1)[0]
	ids := map[string]string{}
	for i, owner := range []string{"u1", "u2", "", "u1\x01s"} {
		for j := range 3 {
			a, err := s.SaveApp(t.Context(), storage.App{Name: fmt.Sprintf("Shop %d%d", i, j),
				Domains: []string{"a.example.com"}, Owner: owner})
			if err != nil {
				t.Fatal(err)
			}
			ids[a.ID] = owner
		}
	}
	for owner, want := range map[string]int{"": 12, "u1": 3, "u2": 3, "u3": 0} {
		got, next, err := s.FindApps(t.Context(), "sHOP", owner, "", 2)
		for err == nil && next != "" {
			var more []storage.App
			more, next, err = s.FindApps(t.Context(), "shop", owner, next, 2)
			got = append(got, more...)
		}
		if err != nil || len(got) != want {
			t.Errorf("%q has %d, want %d, %v", owner, len(got), want, err)
		}
		for _, a := range got {
			if owner != "" && a.Owner != owner {
				t.Errorf("%q is shown %q's", owner, a.Owner)
			}
			if byID, _, err := s.FindApps(t.Context(), a.ID[:8], owner, "", 5); err != nil || len(byID) != 1 ||
				byID[0].ID != a.ID {
				t.Errorf("by client_id: %v, %v", byID, err)
			}
		}
	}
	_, next, err := s.FindApps(t.Context(), "shop", "", "", 1)
	if err != nil || next == "" {
		t.Fatal(next, err)
	}
	for _, from := range []string{next, "AA", "!", base64.RawURLEncoding.EncodeToString([]byte("all")),
		base64.RawURLEncoding.EncodeToString([]byte("find="))} {
		if page, _, err := s.FindApps(t.Context(), "shop", "u1", from, 9); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("from %q: %d applications, %v", from, len(page), err)
		}
	}
}
