package mcpbus_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// faulty is a catalog that can be made to fail, and counts what is read.
type faulty struct {
	mcpbus.Store
	mu     sync.Mutex
	list   error
	tools  map[string]error
	listed int
	read   []string
}

func (f *faulty) Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed++
	if f.list != nil {
		return nil, "", f.list
	}
	return f.Store.Capabilities(ctx, owner, from, min(n, 2)) // several pages
}

func (f *faulty) Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = append(f.read, member)
	if err := f.tools[member]; err != nil {
		return storage.Capability{}, nil, err
	}
	return f.Store.Tools(ctx, member)
}

func (f *faulty) fail(list error, tools map[string]error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list, f.tools, f.read, f.listed = list, tools, nil, 0
}

func (f *faulty) was() (read []string, listed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.read)), f.listed
}

func (h *fixture) openFaulty(edits ...func(*mcpbus.Config)) *faulty {
	h.Helper()
	f := &faulty{Store: h.store}
	h.open(append(edits, func(c *mcpbus.Config) { c.Store, c.Users = f, h.store })...)
	return f
}

func (h *fixture) wantList(what string, want ...string) {
	h.Helper()
	if names, _ := h.walk(); !slices.Equal(names, want) {
		h.Errorf("%s the list is %v, want %v", what, names, want)
	}
}

func TestChangesOfOtherProcessesAreFoundByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := emptyFixture(t)
		for _, member := range []string{"a", "b", "c", "d", "e"} {
			h.register(capability(member, "https://x.example.com"), rest("get", "x"))
		}
		f := h.openFaulty()
		f.fail(nil, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if read, listed := f.was(); len(read) != 0 || listed != 12*3 {
			t.Errorf("a minute without changes read the tools of %v, and %d pages; want nothing and 12 times 3", read, listed)
		}
		h.register(capability("b", "https://x.example.com"), rest("get", "y"))
		c := must(h.store.Capability(t.Context(), "d"))(t)
		if err := h.store.DeleteCapability(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		h.wantList("before it is looked for,", "a__x", "b__x", "c__x", "d__x", "e__x")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		h.wantList("5 s later", "a__x", "b__y", "c__x", "e__x")
		if read, _ := f.was(); !slices.Equal(read, []string{"b"}) {
			t.Errorf("the tools of %v were read, want those of b alone", read)
		}
	})
}

func TestRegistrationHereIsListedAtOnce(t *testing.T) {
	h := newFixture(t)
	h.register(capability("maths", "https://maths.example.com"), rest("get", "sum"))
	h.reload()
	h.wantList("after Reload", "maths__sum", "pets__addPet", "pets__dropPet", "pets__getPet")
	hidden := capability("pets", "https://pets.example.com")
	hidden.Publish = false
	h.register(hidden, rest("get", "getPet"))
	h.reload()
	h.wantList("after it was unpublished", "maths__sum")
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	h.reload()
	h.wantList("after it was published again", "maths__sum", "pets__getPet")
	if err := h.store.DeleteCapability(t.Context(), must(h.store.Capability(t.Context(), "maths"))(t)); err != nil {
		t.Fatal(err)
	}
	h.reload()
	h.wantList("after one was removed", "pets__getPet")
}

func TestReloadDoesNotReadWhatIsNotPublished(t *testing.T) {
	h := emptyFixture(t)
	hidden := capability("a", "https://x.example.com")
	hidden.Publish = false
	h.register(hidden, rest("get", "x"))
	f := h.openFaulty()
	if read, _ := f.was(); len(read) != 0 {
		t.Errorf("the tools of %v were read", read)
	}
	h.open(func(c *mcpbus.Config) { c.Store = outdated{h.store} })
	h.wantList("of what was hidden after it was listed")
}

// outdated is a catalog whose list is older than what is read then.
type outdated struct{ *storage.Store }

func (c outdated) Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error) {
	page, next, err := c.Store.Capabilities(ctx, owner, from, n)
	for i := range page {
		page[i].Publish = true
	}
	return page, next, err
}

func TestReloadKeepsWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := emptyFixture(t)
		h.register(capability("a", "https://x.example.com"), rest("get", "x"))
		h.register(capability("b", "https://x.example.com"), rest("get", "x"))
		f := h.openFaulty(func(c *mcpbus.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		h.register(capability("a", "https://x.example.com"), rest("get", "new"))
		h.register(capability("b", "https://x.example.com"), rest("get", "new"))
		h.register(capability("c", "https://x.example.com"), rest("get", "new"))

		f.fail(errAway, nil)
		if err := h.bus.Reload(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("Reload() = %v, want %v", err, errAway)
		}
		h.wantList("while the catalog is away", "a__x", "b__x")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(log.String(), "cannot be refreshed"); n != 1 {
			t.Errorf("a minute of failures is logged %d times, want once", n)
		}

		f.fail(nil, map[string]error{"a": errAway, "c": errAway})
		if err := h.bus.Reload(t.Context()); !errors.Is(err, errAway) || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("Reload() = %v, want a and c named", err)
		}
		h.wantList("while a and c cannot be read", "a__x", "b__new")

		f.fail(nil, map[string]error{"a": storage.ErrNotFound})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		h.wantList("after a was removed while it was read", "b__new", "c__new")
		if !strings.Contains(log.String(), "refreshed again") {
			t.Error("that it is refreshed again is not logged")
		}
	})
}

func TestBusStartsWithoutAMemberButNotWithoutTheCatalog(t *testing.T) {
	h := emptyFixture(t)
	h.register(capability("a", "https://x.example.com"), rest("get", "x"))
	f := &faulty{Store: h.store, list: errAway}
	c := mcpbus.Config{BaseURL: issuer, Store: f, Users: h.store, Invoker: h.calls, Meter: h.meter, Audit: h.meter,
		Log: quiet}
	if b, err := mcpbus.New(t.Context(), c); !errors.Is(err, errAway) || b != nil {
		t.Errorf("New() = %v, %v; want %v", b, err, errAway)
	}
	f.fail(nil, map[string]error{"a": errAway})
	b := must(mcpbus.New(t.Context(), c))(t)
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReloadWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := emptyFixture(t)
		slow := make(chan struct{})
		h.open(func(c *mcpbus.Config) { c.Store = &hanging{h.store, slow, false} })
		go h.bus.Reload(context.Background())
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.bus.Reload(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Reload() beside one that hangs = %v, want DeadlineExceeded", err)
		}
		if a := h.legacy("tools/list", ""); a.status != 200 {
			t.Errorf("the list beside a Reload that hangs = %d", a.status)
		}
		close(slow)
	})
}

// hanging is a catalog that answers once and then waits.
type hanging struct {
	*storage.Store
	until chan struct{}
	again bool
}

func (c *hanging) Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error) {
	if c.again {
		<-c.until
	}
	c.again = true
	return c.Store.Capabilities(ctx, owner, from, n)
}
