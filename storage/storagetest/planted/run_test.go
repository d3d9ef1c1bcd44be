package planted

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/storagetest"
)

func TestContractSeesPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	Run(t, func(*testing.T) driver.Backend { return memory.New() })
}

func TestListIsLongAndNamesEachBugOnce(t *testing.T) {
	names := map[string]bool{}
	for _, b := range allBugs() {
		if names[b.name] {
			t.Errorf("two bugs are called %q", b.name)
		}
		names[b.name] = true
		if b.plant == nil && b.reopen == nil && b.pick == nil && b.gather == nil {
			t.Errorf("%q is no bug", b.name)
		}
	}
	if len(names) < 200 {
		t.Errorf("the list has %d bugs, want 200 or more", len(names))
	}
}

// The plants in the Backends of the promises about reopening are no bugs by themselves.
func TestFolderOfMemoryKeepsWhatWasAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of lives of a Backend")
	}
	storagetest.RunDurable(t, disks(bug{}))
}

func TestBackendWithoutABugIsNotSeen(t *testing.T) {
	for _, path := range []string{"Put and Get/", "Close/after", "reopening/fields"} {
		b := bug{caught: path}
		if b.seen(t, func(*testing.T) driver.Backend { return memory.New() }) {
			t.Errorf("%q breaks without a bug", path)
		}
	}
}

func TestScoreHasAGoal(t *testing.T) {
	for _, c := range []struct {
		caught, tried int
		enough        bool
	}{{100, 100, true}, {97, 100, true}, {96, 100, false}, {195, 200, true}, {193, 200, false}, {0, 1, false},
		{0, 0, true}} {
		if enough(c.caught, c.tried) != c.enough {
			t.Errorf("%d of %d is enough: %v, want %v", c.caught, c.tried, !c.enough, c.enough)
		}
	}
}

// A process that remembers what it read knows its own writes, but not those of others.
func TestNodeThatRemembersDocumentsIsSeen(t *testing.T) {
	caching := func(p *parts) {
		var cache sync.Map
		get, put := p.get, p.put
		p.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
			if d, there := cache.Load(kind + "/" + id); there {
				return d.(driver.Doc), nil
			}
			d, err := get(ctx, kind, id)
			if err == nil {
				cache.Store(kind+"/"+id, d)
			}
			return d, err
		}
		p.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
			for _, d := range docs {
				cache.Delete(d.Kind + "/" + d.ID)
			}
			return put(ctx, docs...)
		}
	}
	b := bug{plant: caching}
	const path = "nothing/empty Data and Index"
	alone := func(t *testing.T, _ string) driver.Backend { return b.in(t, memory.New()) }
	if said := storagetest.Broken(t, path, time.Minute, alone); said != "" {
		t.Errorf("one process that remembers documents: %s", said)
	}
	two := func(t *testing.T, _ string) driver.Backend {
		store := memory.New()
		return storagetest.Nodes(b.in(t, store), b.in(t, store))
	}
	if said := storagetest.Broken(t, path, time.Minute, two); said == "" {
		t.Error("two processes that remember documents pass")
	}
}
