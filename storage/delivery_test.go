package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func opened(t *testing.T, backend driver.Backend, keys ...storage.MasterKey) *storage.Store {
	t.Helper()
	if keys == nil {
		keys = []storage.MasterKey{storage.NewMasterKey()}
	}
	s, err := storage.Open(t.Context(), backend, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func event(n int) storage.Delivery {
	return storage.Delivery{Event: fmt.Sprint("e", n), URL: "https://hook.example/?key=KEY", Secret: storage.NewSecret("HOOK-SECRET"), Payload: []byte(fmt.Sprintf(`{"n":%d}`, n))}
}

// register makes or replaces capability m and queues events of it.
func register(t *testing.T, s *storage.Store, member string, events ...storage.Delivery) {
	t.Helper()
	c, err := s.Capability(t.Context(), member)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	c.Member = member
	if _, err := s.SaveCapability(t.Context(), c, nil, events...); err != nil {
		t.Fatalf("SaveCapability(%s) = %v, want no error", member, err)
	}
}

// names lists the events of deliveries, in their order; those given up in brackets.
func names(list []storage.Delivery, err error) string {
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, d := range list {
		if !d.Waiting() {
			d.Event = "(" + d.Event + ")"
		}
		out = append(out, d.Event)
	}
	return strings.Join(out, " ")
}

func wantQueue(t *testing.T, s *storage.Store, member, want string) {
	t.Helper()
	if got := names(s.Deliveries(t.Context(), member)); got != want {
		t.Errorf("Deliveries(%s) = %q, want %q", member, got, want)
	}
}

func first(t *testing.T, s *storage.Store, member string) storage.Delivery {
	t.Helper()
	d, err := s.FirstDelivery(t.Context(), member)
	if err != nil {
		t.Fatalf("FirstDelivery(%s) = %v, want no error", member, err)
	}
	return d
}

func TestChangeAndItsEventAreOneStep(t *testing.T) {
	s := opened(t, memory.New())
	register(t, s, "m", event(1))
	c, err := s.Capability(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	stale := c
	stale.Version--
	if _, err := s.SaveCapability(t.Context(), stale, nil, event(2)); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveCapability(stale) = %v, want ErrConflict", err)
	}
	if err := s.DeleteCapability(t.Context(), stale, event(2)); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("DeleteCapability(stale) = %v, want ErrConflict", err)
	}
	wantQueue(t, s, "m", "e1")
	bad := event(3)
	bad.Payload = make([]byte, storage.MaxPayload+1)
	c.Label = "changed"
	if _, err := s.SaveCapability(t.Context(), c, nil, bad); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("SaveCapability(an event that is too large) = %v, want ErrInvalid", err)
	}
	if c, _ := s.Capability(t.Context(), "m"); c.Label != "" {
		t.Error("a change was stored without its event")
	}
	if err := s.DeleteCapability(t.Context(), c, event(4)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Capability(t.Context(), "m"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("after its removal: Capability() = %v, want ErrNotFound", err)
	}
	wantQueue(t, s, "m", "e1 e4")
}

func TestDeliveryIsKeptWithItsSecretSealed(t *testing.T) {
	backend := memory.New()
	s := opened(t, backend)
	before := time.Now()
	register(t, s, "m", event(1))
	d := first(t, s, "m")
	if d.Event != "e1" || d.Member != "m" || d.URL != event(1).URL || string(d.Payload) != `{"n":1}` || !d.Secret.Equal("HOOK-SECRET") || d.Attempts != 0 || !d.Waiting() {
		t.Errorf("read %+v", d)
	}
	if d.CreatedAt.Before(before) || d.NextAt.Before(before) || !d.ExpiresAt.Equal(d.CreatedAt.Add(storage.DeliveryLife)) {
		t.Errorf("made at %v, due at %v, expires at %v; it is due at once, for DeliveryLife", d.CreatedAt, d.NextAt,
			d.ExpiresAt)
	}
	if !strings.HasPrefix(d.ID, "msg_") || strings.Contains(d.ID, ".") || len(d.ID) != 46 {
		t.Errorf("its id is %q", d.ID)
	}
	doc, err := backend.Get(t.Context(), "delivery", d.ID)
	if err != nil || strings.Contains(string(doc.Data), "HOOK-SECRET") || !doc.ExpiresAt.Equal(d.ExpiresAt) {
		t.Errorf("stored as %s until %v, %v", doc.Data, doc.ExpiresAt, err)
	}
}

func TestDeliveriesAreDueInOrderOfTime(t *testing.T) {
	s := opened(t, memory.New())
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for i, at := range []time.Time{noon.Add(1), noon, noon.Add(-time.Nanosecond), noon.Add(time.Hour),
		noon.Add(-time.Hour), noon.Add(500 * time.Millisecond)} {
		member := fmt.Sprint("m", i)
		register(t, s, member, event(i))
		d := first(t, s, member)
		d.NextAt = at.In(time.FixedZone("east", 8*3600))
		if _, err := s.SaveDelivery(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		at   time.Time
		n    int
		want string
	}{
		{noon, 10, "e4 e2 e1"},
		{noon, 2, "e4 e2"},
		{noon.Add(-1), 10, "e4 e2"},
		{noon.Add(-2 * time.Hour), 10, ""},
		{noon.Add(time.Second), 10, "e4 e2 e1 e0 e5"},
		{noon.AddDate(1000, 0, 0), 10, "e4 e2 e1 e0 e5 e3"},
	} {
		if got := names(s.DueDeliveries(t.Context(), c.at, c.n)); got != c.want {
			t.Errorf("DueDeliveries(%v, %d) = %q, want %q", c.at, c.n, got, c.want)
		}
	}
}

func TestMovingItsTimeAheadIsALease(t *testing.T) {
	s := opened(t, memory.New())
	register(t, s, "m", event(1))
	var wins, losses int
	var mu sync.Mutex
	var trying sync.WaitGroup
	d := first(t, s, "m")
	for range 8 {
		trying.Go(func() {
			mine := d
			mine.NextAt = time.Now().Add(time.Minute)
			_, err := s.SaveDelivery(context.Background(), mine)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				wins++
			case errors.Is(err, storage.ErrConflict):
				losses++
			}
		})
	}
	trying.Wait()
	if wins != 1 || losses != 7 {
		t.Errorf("%d of 8 got it and %d met ErrConflict, want 1 and 7", wins, losses)
	}
	if got := names(s.DueDeliveries(t.Context(), time.Now(), 10)); got != "" {
		t.Errorf("%s is due although it is leased", got)
	}
}

func TestDeliveryAfterTheFirstIsDueWhenThatIsGone(t *testing.T) {
	for _, end := range []string{"delivered", "given up"} {
		synctest.Test(t, func(t *testing.T) {
			s := opened(t, memory.New())
			register(t, s, "m", event(1), event(2), event(3))
			all, _ := s.Deliveries(t.Context(), "m")
			for _, d := range all {
				d.NextAt = time.Now().Add(time.Hour)
				if _, err := s.SaveDelivery(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
			d, left := first(t, s, "m"), "e2 e3"
			var err error
			if end == "delivered" {
				err = s.DeleteDelivery(t.Context(), d)
			} else {
				d.GivenUpAt, left = time.Now(), "(e1) e2 e3"
				_, err = s.SaveDelivery(t.Context(), d)
			}
			if err != nil {
				t.Fatal(err)
			}
			wantQueue(t, s, "m", left)
			if got := names(s.DueDeliveries(t.Context(), time.Now(), 10)); got != "e2" {
				t.Errorf("after the first was %s, %q is due, want e2", end, got)
			}
			if d := first(t, s, "m"); d.Event != "e2" {
				t.Errorf("after the first was %s, it is the turn of %s, want e2", end, d.Event)
			}
		})
	}
}

// A sender that saw the first delivery in front, and is about to put off the next until its lease ends, must
// not do so when the first is gone.
func TestNextIsNotPutOffForOneThatIsGone(t *testing.T) {
	s := opened(t, memory.New())
	register(t, s, "m", event(1), event(2))
	all, err := s.Deliveries(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteDelivery(t.Context(), all[0]); err != nil {
		t.Fatal(err)
	}
	all[1].NextAt = time.Now().Add(time.Minute)
	if _, err := s.SaveDelivery(t.Context(), all[1]); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveDelivery() = %v, want ErrConflict", err)
	}
}

func TestRemovingALaterOneLeavesTheFirstItsTime(t *testing.T) {
	s := opened(t, memory.New())
	register(t, s, "m", event(1), event(2), event(3))
	leased := first(t, s, "m")
	leased.NextAt = time.Now().Add(time.Minute)
	if _, err := s.SaveDelivery(t.Context(), leased); err != nil {
		t.Fatal(err)
	}
	all, _ := s.Deliveries(t.Context(), "m")
	if err := s.DeleteDelivery(t.Context(), all[1]); err != nil {
		t.Fatal(err)
	}
	wantQueue(t, s, "m", "e1 e3")
	if d := first(t, s, "m"); !d.NextAt.Equal(leased.NextAt) {
		t.Errorf("the first is due at %v, want %v as before", d.NextAt, leased.NextAt)
	}
	if err := s.DeleteDelivery(t.Context(), all[1]); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("DeleteDelivery(one that is gone) = %v, want ErrConflict", err)
	}
}

func TestLineKeepsItsOrderOverClocksThatDisagree(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		register(t, opened(t, backend, key), "m", event(1), event(2))
	})
	synctest.Test(t, func(t *testing.T) { // begins an hour earlier
		s := opened(t, backend, key)
		register(t, s, "m", event(3))
		register(t, s, "m", event(4))
		wantQueue(t, s, "m", "e1 e2 e3 e4")
		if got := names(s.DueDeliveries(t.Context(), time.Now(), 10)); got != "e3 e4" {
			t.Errorf("%q is due by the clock of its maker, want e3 e4", got)
		}
	})
}

func TestLineIsNeverLongerThanItMayBe(t *testing.T) {
	s := opened(t, memory.New())
	for i := range storage.MaxWaiting + 3 {
		register(t, s, "m", event(i))
	}
	var want []string
	for i := range storage.MaxWaiting + 3 {
		if i == 0 || i > 3 {
			want = append(want, fmt.Sprint("e", i))
		}
	}
	wantQueue(t, s, "m", strings.Join(want, " "))
	register(t, s, "m", slices.Repeat([]storage.Delivery{event(0)}, storage.MaxWaiting-5)...)
	if all, err := s.Deliveries(t.Context(), "m"); err != nil || len(all) != storage.MaxWaiting {
		t.Errorf("%d deliveries wait, %v, want %d", len(all), err, storage.MaxWaiting)
	}
}

func TestDeliveryToAReplacedURLIsTakenOff(t *testing.T) {
	s := opened(t, memory.New())
	register(t, s, "m", event(1), event(2))
	register(t, s, "other", event(3))
	moved := event(4)
	moved.URL = "https://new.example/"
	register(t, s, "m", moved)
	wantQueue(t, s, "m", "e4")
	wantQueue(t, s, "other", "e3")
}

func TestDeliveryGivenUpIsReadableUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, memory.New())
		register(t, s, "m", event(1))
		d := first(t, s, "m")
		d.GivenUpAt, d.ExpiresAt, d.LastStatus, d.LastError = time.Now(), time.Now().Add(time.Hour), 500, "why"
		if _, err := s.SaveDelivery(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if _, err := s.FirstDelivery(t.Context(), "m"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("FirstDelivery() = %v, want ErrNotFound", err)
		}
		all, err := s.Deliveries(t.Context(), "m")
		if err != nil || len(all) != 1 || all[0].LastStatus != 500 || all[0].LastError != "why" {
			t.Errorf("Deliveries() = %+v, %v", all, err)
		}
		if n, err := s.Sweep(t.Context(), time.Now().Add(time.Hour-1)); n != 0 || err != nil {
			t.Errorf("Sweep(before it expires) = %d, %v, want 0", n, err)
		}
		if n, err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil {
			t.Errorf("Sweep(when it expires) = %d, %v, want 1", n, err)
		}
	})
}

func TestDeliveryIsOnlyMadeWithAChange(t *testing.T) {
	s := opened(t, memory.New())
	d := event(1)
	d.ID, d.Member, d.NextAt = "msg_1", "m", time.Now()
	if _, err := s.SaveDelivery(t.Context(), d); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("SaveDelivery(new) = %v, want ErrInvalid", err)
	}
	for what, spoil := range map[string]func(*storage.Delivery){
		"no event":         func(d *storage.Delivery) { d.Event = "" },
		"no URL":           func(d *storage.Delivery) { d.URL = "" },
		"no payload":       func(d *storage.Delivery) { d.Payload = nil },
		"a large payload":  func(d *storage.Delivery) { d.Payload = make([]byte, storage.MaxPayload+1) },
		"a line of no one": func(d *storage.Delivery) { d.Member = "" },
		"no time":          func(d *storage.Delivery) { d.NextAt = time.Time{} },
	} {
		register(t, s, "m", event(1))
		d := first(t, s, "m")
		spoil(&d)
		if _, err := s.SaveDelivery(t.Context(), d); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("SaveDelivery(%s) = %v, want ErrInvalid", what, err)
		}
	}
}

// Makers and a sender meet at one line: each of their writes holds several documents that
// the other may just have changed.
func TestDeliveryLosesNoEventBetweenMakersAndASender(t *testing.T) {
	s := opened(t, memory.New())
	const events = 200
	var sent []string
	var sending sync.WaitGroup
	made := make(chan struct{})
	sending.Go(func() {
		for ended := false; ; {
			d, err := s.FirstDelivery(context.Background(), "m")
			switch {
			case errors.Is(err, storage.ErrNotFound) && ended:
				return
			case errors.Is(err, storage.ErrNotFound):
				select {
				case <-made:
					ended = true
				default:
				}
				continue
			}
			if d.NextAt = time.Now().Add(time.Hour); err == nil {
				d, err = s.SaveDelivery(context.Background(), d)
			}
			if err == nil {
				err = s.DeleteDelivery(context.Background(), d)
			}
			if err != nil {
				t.Error(err)
				return
			}
			sent = append(sent, d.Event)
		}
	})
	var want []string
	for i := range events {
		for waiting := storage.MaxWaiting; waiting >= storage.MaxWaiting-1; { // so that none is crowded out
			all, _ := s.Deliveries(t.Context(), "m")
			waiting = len(all)
		}
		register(t, s, "m", event(i))
		want = append(want, fmt.Sprint("e", i))
	}
	close(made)
	sending.Wait()
	if !slices.Equal(sent, want) {
		t.Errorf("sent %v, want e0 to e%d in order", sent, events-1)
	}
}

// meddler is a backend in which somebody else comes first: it does something before a Put.
type meddler struct {
	driver.Backend
	first func()
}

func (m *meddler) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if m.first != nil {
		m.first()
	}
	return m.Backend.Put(ctx, docs...)
}

func TestWriteIsBegunAnewWhenAnotherDeliveryChangedMeanwhile(t *testing.T) {
	moved := event(3)
	moved.URL = "https://new.example/"
	for name, c := range map[string]struct {
		write func(s *storage.Store, d storage.Delivery) error
		want  string // what is left
	}{
		"removed": {func(s *storage.Store, d storage.Delivery) error { return s.DeleteDelivery(t.Context(), d) }, "e2"},
		"given up": {func(s *storage.Store, d storage.Delivery) error {
			d.GivenUpAt = time.Now()
			_, err := s.SaveDelivery(t.Context(), d)
			return err
		}, "(e1) e2"},
		"crowded out": {func(s *storage.Store, _ storage.Delivery) error {
			c, err := s.Capability(t.Context(), "m")
			if err == nil {
				_, err = s.SaveCapability(t.Context(), c, nil, moved)
			}
			return err
		}, "e3"},
	} {
		backend, key := memory.New(), storage.NewMasterKey()
		others, between := opened(t, backend, key), &meddler{Backend: backend}
		s := opened(t, between, key)
		register(t, s, "m", event(1), event(2))
		times := 3
		between.first = func() {
			if times--; times < 0 {
				return
			}
			all, _ := others.Deliveries(t.Context(), "m")
			all[1].LastError = "changed"
			if _, err := others.SaveDelivery(t.Context(), all[1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.write(s, first(t, others, "m")); err != nil {
			t.Errorf("%s: %v, want no error", name, err)
		}
		wantQueue(t, s, "m", c.want)
		if times >= 0 {
			t.Errorf("%s: nobody came first", name)
		}
		if d := first(t, s, "m"); d.Event == "e2" && d.LastError != "changed" {
			t.Errorf("%s: what somebody else wrote is lost", name)
		}
	}
}

func TestWriteThatIsAlwaysTooLateIsGivenUp(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	others, between := opened(t, backend, key), &meddler{Backend: backend}
	s := opened(t, between, key)
	register(t, s, "m", event(1), event(2))
	between.first = func() {
		all, _ := others.Deliveries(t.Context(), "m")
		if _, err := others.SaveDelivery(t.Context(), all[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteDelivery(t.Context(), first(t, others, "m")); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("DeleteDelivery() = %v, want ErrUnavailable", err)
	}
	c, err := others.Capability(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	moved := event(3)
	moved.URL = "https://new.example/"
	if _, err := s.SaveCapability(t.Context(), c, nil, moved); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("SaveCapability() = %v, want ErrUnavailable", err)
	}
	wantQueue(t, s, "m", "e1 e2")
}
