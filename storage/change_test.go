package storage_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// shared is a backend that other processes write to as well.
type shared struct{ driver.Backend }

func (shared) Listen(ctx context.Context, hint func()) error {
	hint()
	<-ctx.Done()
	return nil
}

// wrapper is a backend around another one.
type wrapper struct{ driver.Backend }

func (w wrapper) Unwrap() driver.Backend { return w.Backend }

// process opens a store as one process of several, which notes what it is told.
func process(t *testing.T, backend driver.Backend,
	keys ...storage.MasterKey) (*storage.Store, func() []storage.Change) {
	t.Helper()
	s, err := storage.Open(t.Context(), wrapper{shared{backend}}, keys...)
	if err != nil {
		t.Fatal(err)
	}
	var told []storage.Change
	s.OnChange(func(c storage.Change) { told = append(told, c) })
	return s, func() []storage.Change {
		told = nil
		if err := s.ReadChanges(t.Context()); err != nil {
			t.Errorf("ReadChanges() = %v, want no error", err)
		}
		return told
	}
}

func processes(t *testing.T) (here, there *storage.Store, news func() []storage.Change, backend *memory.Store) {
	t.Helper()
	backend = memory.New()
	t.Cleanup(func() { backend.Close() })
	key := storage.NewMasterKey()
	here, _ = process(t, backend, key)
	there, news = process(t, backend, key)
	return here, there, news, backend
}

func saveApp(t *testing.T, s *storage.Store, a storage.App) storage.App {
	t.Helper()
	if a.Name == "" {
		a.Name = "App"
	}
	a, err := s.SaveApp(t.Context(), a)
	must(t, err)
	return a
}

func wantNews(t *testing.T, what string, got []storage.Change, want ...storage.Change) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b storage.Change) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%s: told of %v, want %v", what, got, want)
	}
}

func TestChangeReachesTheCachesOfAnotherProcess(t *testing.T) {
	here, there, news, _ := processes(t)
	wantNews(t, "nothing has changed", news())
	a, b := saveApp(t, here, storage.App{}), saveApp(t, here, storage.App{})
	wantNews(t, "two applications", news(), storage.Change{Kind: storage.ChangedApps, IDs: []string{a.ID, b.ID}})
	wantNews(t, "nothing since", news())
	must(t, here.Set(t.Context(), storage.SettingForcePKCE, "1"))
	saveApp(t, here, a)
	wantNews(t, "a setting and an application", news(),
		storage.Change{Kind: storage.ChangedSettings, IDs: []string{storage.SettingForcePKCE}},
		storage.Change{Kind: storage.ChangedApps, IDs: []string{a.ID}})
	must(t, here.DeleteApp(t.Context(), b, storage.Quota{}))
	wantNews(t, "a removed application", news(), storage.Change{Kind: storage.ChangedApps, IDs: []string{b.ID}})
	_, err := here.SaveCapability(t.Context(), storage.Capability{Member: "m"}, nil)
	must(t, err)
	wantNews(t, "a capability", news(), storage.Change{Kind: storage.ChangedCapabilities, IDs: []string{"m"}})
	if a, err = there.App(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	saveApp(t, there, a)
	wantNews(t, "what it has changed itself", news(), storage.Change{Kind: storage.ChangedApps, IDs: []string{a.ID}})
	_, err = here.SaveSession(t.Context(), storage.Session{ID: "s", UserID: "u"})
	must(t, err)
	wantNews(t, "what nobody caches", news())
}

func TestProcessThatStartsIsToldOfWhatChangesAfterwards(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	defer backend.Close()
	here, _ := process(t, backend, key)
	for range 50 {
		saveApp(t, here, storage.App{})
	}
	_, news := process(t, backend, key)
	wantNews(t, "nothing since it started", news())
	a := saveApp(t, here, storage.App{})
	wantNews(t, "one since it started", news(), storage.Change{Kind: storage.ChangedApps, IDs: []string{a.ID}})
}

func TestChangeListThatIsTooLongMeansEverything(t *testing.T) {
	for _, n := range []int{31, 32, 33, 100} {
		here, _, news, _ := processes(t)
		saveApp(t, here, storage.App{})
		news()
		var ids []string
		for range n {
			ids = append(ids, saveApp(t, here, storage.App{}).ID)
		}
		want := storage.Change{Kind: storage.ChangedApps, IDs: ids}
		if n >= 32 {
			want.IDs = nil
		}
		wantNews(t, fmt.Sprint(n, " applications"), news(), want)
	}
}

func TestChangeIsNotDeliveredAfterStop(t *testing.T) {
	here, there, _, _ := processes(t)
	told := 0
	stop := there.OnChange(func(storage.Change) { told++ })
	saveApp(t, here, storage.App{})
	must(t, there.ReadChanges(t.Context()))
	stop()
	saveApp(t, here, storage.App{})
	must(t, there.ReadChanges(t.Context()))
	if told != 1 {
		t.Errorf("told %d times, want once", told)
	}
}

// Writers of several processes meet at the epoch and not at their documents: each gets through.
func TestChangeIsNotMissedWhereManyProcessesWrite(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	defer backend.Close()
	const writers, each = 4, 50
	var made sync.Map
	var work sync.WaitGroup
	reader, news := process(t, backend, key)
	seen, unnamed := map[string]bool{}, 0
	for range writers {
		s, _ := process(t, backend, key)
		work.Go(func() {
			for range each {
				a, err := s.SaveApp(t.Context(), storage.App{Name: "App"})
				if err != nil {
					t.Errorf("SaveApp() = %v, want no error", err)
				}
				made.Store(a.ID, true)
			}
		})
	}
	look := func() {
		for _, c := range news() {
			if c.IDs == nil {
				unnamed++
			}
			for _, id := range c.IDs {
				if _, err := reader.App(t.Context(), id); err != nil {
					t.Errorf("told of %s before it is there: %v", id, err)
				}
				seen[id] = true
			}
		}
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	for going := true; going; look() {
		select {
		case <-done:
			going = false
		default:
		}
	}
	made.Range(func(id, _ any) bool {
		if !seen[id.(string)] && unnamed == 0 {
			t.Errorf("nobody told of %s", id)
		}
		return true
	})
}

func TestConflictOfADocumentIsNotTakenForOneOfTheEpoch(t *testing.T) {
	here, there, news, _ := processes(t)
	a := saveApp(t, here, storage.App{})
	saveApp(t, there, storage.App{}) // so that here's idea of the epoch is old too
	saveApp(t, there, a)
	if _, err := here.SaveApp(t.Context(), a); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveApp(of an old version) = %v, want ErrConflict", err)
	}
	if got := news(); len(got) != 1 || len(got[0].IDs) != 3 {
		t.Errorf("told of %v, want 3 changes of applications: the refused one is none", got)
	}
}

// The last places of a write are for the epochs.
func TestLargestWritesHaveRoomForTheEpochs(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	defer backend.Close()
	s, news := process(t, backend, key)
	a := saveApp(t, s, storage.App{Owner: "u1"})
	for i := range 150 {
		var err error
		o := storage.Order{ID: fmt.Sprint(i), AppID: a.ID, Owner: "u1", Tier: storage.TierWhiteLabel,
			Status: storage.OrderCanceled}
		_, a, err = s.SaveOrder(t.Context(), o, a)
		must(t, err)
	}
	a, err := s.GiveApp(t.Context(), a, "u2")
	must(t, err)
	for range 150 {
		saveApp(t, s, storage.App{})
	}
	must(t, s.BeginRekey(t.Context(), storage.NewMasterKey(), key))
	if n, err := s.Reseal(t.Context()); err != nil || n < 151 {
		t.Errorf("Reseal() = %d, %v, want all applications", n, err)
	}
	wantNews(t, "all of it", news(), storage.Change{Kind: storage.ChangedApps})
}

func TestStoreOfOneProcessHasNoEpochs(t *testing.T) {
	s, backend := open(t)
	saveApp(t, s, storage.App{})
	must(t, s.ReadChanges(t.Context()))
	must(t, s.Listen(t.Context(), nil))
	if docs, _, err := backend.List(t.Context(), driver.KindEpoch, driver.Is("all"), 10); err != nil || len(docs) != 0 ||
		s.Shared() {
		t.Errorf("%d epochs are stored, %v", len(docs), err)
	}
}

func TestStoreThatHasLostAChangeIsNoticed(t *testing.T) {
	everything := []storage.Change{
		{Kind: storage.ChangedKeys}, {Kind: storage.ChangedSettings}, {Kind: storage.ChangedApps},
		{Kind: storage.ChangedCapabilities}, {Kind: storage.ChangedAccess}, {Kind: storage.ChangedBundles},
		{Kind: storage.ChangedUsers},
	}
	for _, c := range []struct {
		name string
		lose func(b *memory.Store, earlier, now driver.Doc, put func(driver.Doc))
	}{
		{"the number of changes is lower", func(_ *memory.Store, earlier, now driver.Doc, put func(driver.Doc)) {
			now.Data = earlier.Data
			put(now)
		}},
		{"the epoch is gone", func(_ *memory.Store, _, now driver.Doc, put func(driver.Doc)) {
			now.Deleted = true
			put(now)
		}},
		{"other changes have taken the numbers", func(b *memory.Store, earlier, now driver.Doc, put func(driver.Doc)) {
			now.Data = earlier.Data
			put(now)
			another, _ := storage.Open(context.Background(), shared{b}, keyOfTest)
			for range 3 { // as many as were lost, and one more
				another.SaveApp(context.Background(), storage.App{Name: "Another"})
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			backend := memory.New()
			defer backend.Close()
			here, _ := process(t, backend, keyOfTest)
			there, news := process(t, backend, keyOfTest)
			epoch := func() driver.Doc {
				d, err := backend.Get(t.Context(), driver.KindEpoch, storage.ChangedApps)
				must(t, err)
				return d
			}
			saveApp(t, here, storage.App{})
			earlier := epoch()
			saveApp(t, here, storage.App{})
			saveApp(t, here, storage.App{})
			news()
			c.lose(backend, earlier, epoch(), func(d driver.Doc) {
				_, err := backend.Put(t.Context(), d)
				must(t, err)
			})
			var told []storage.Change
			there.OnChange(func(c storage.Change) { told = append(told, c) })
			if err := there.ReadChanges(t.Context()); !errors.Is(err, storage.ErrRegressed) {
				t.Errorf("ReadChanges() = %v, want ErrRegressed", err)
			}
			wantNews(t, "the loss", told, everything...)
			wantNews(t, "nothing since", news())
			a := saveApp(t, there, storage.App{})
			wantNews(t, "what was done since", news(), storage.Change{Kind: storage.ChangedApps, IDs: []string{a.ID}})
		})
	}
}

// Nobody has read it, and yet it was answered.
func TestStoreThatHasLostWhatThisProcessHasWrittenIsNoticed(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	s, news := process(t, backend, keyOfTest)
	saveApp(t, s, storage.App{})
	news()
	epoch := func() driver.Doc {
		d, err := backend.Get(t.Context(), driver.KindEpoch, storage.ChangedApps)
		must(t, err)
		return d
	}
	earlier := epoch()
	saveApp(t, s, storage.App{})
	lost := epoch()
	lost.Data = earlier.Data
	_, err := backend.Put(t.Context(), lost)
	must(t, err)
	if err := s.ReadChanges(t.Context()); !errors.Is(err, storage.ErrRegressed) {
		t.Errorf("ReadChanges() = %v, want ErrRegressed", err)
	}
	wantNews(t, "nothing since", news())
}

var keyOfTest = storage.NewMasterKey()
