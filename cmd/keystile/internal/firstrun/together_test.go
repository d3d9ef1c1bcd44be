package firstrun

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/demo"
	"github.com/keystile/keystile/internal/firstrun"
	"github.com/keystile/keystile/storage"
)

// other returns the configuration of another node on the same store.
func (h *fixture) other(t *testing.T, name string) Config {
	c := h.config()
	c.Node, c.New, c.Path = name, true, filepath.Join(t.TempDir(), "first-run.json")
	return c
}

// papers returns what a node has on its disk.
func papers(t *testing.T, c Config) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(c.Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func TestFirstRunOfManyNodesAtOnceIsMadeByOne(t *testing.T) {
	for range 20 {
		h := newFixture(t)
		const n = 5
		var nodes [n]Config
		var results [n]Result
		var work sync.WaitGroup
		for i := range n {
			nodes[i] = h.other(t, fmt.Sprint("node ", i))
			work.Go(func() {
				var err error
				if results[i], err = Run(t.Context(), nodes[i]); err != nil {
					t.Errorf("node %d: %v", i, err)
				}
			})
		}
		work.Wait()
		maker := -1
		for i, r := range results {
			if r.Made == nil {
				continue
			}
			if maker >= 0 {
				t.Fatalf("nodes %d and %d have both made it", maker, i)
			}
			maker = i
		}
		if maker < 0 {
			t.Fatal("no node has made it")
		}
		h.wantComplete(t, results[maker].Made)
		for i, r := range results {
			if have := papers(t, nodes[i]); i != maker && (r.By != nodes[maker].Node || len(have) != 0) {
				t.Errorf("node %d says that %q was first, and has %v; it was %q", i, r.By, have, nodes[maker].Node)
			}
		}
		if have := papers(t, nodes[maker]); len(have) != 1 {
			t.Errorf("the maker has %v", have)
		}
	}
}

// A node dies with a draft, at each write and right behind it, and another one starts before it is back.
func TestNodeThatDiedBeforeItWasFirstHasNoPaperWhenItIsBack(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			h := newFixture(t)
			h.dying.left, h.dying.behind = n, behind
			if _, err := Run(t.Context(), h.config()); err == nil {
				if n < 2 {
					t.Fatal("it did not die")
				}
				break
			}
			h.dying.left = -1
			done, err := h.store.Setting(t.Context(), firstrun.SettingDone)
			if err != nil {
				t.Fatal(err)
			}
			made := done != "" // by the write that it died behind
			next, err := Run(t.Context(), h.other(t, "next"))
			if err != nil || (next.Made == nil) != made || (next.By == "here") != made {
				t.Fatalf("dead at write %d (behind it: %t), the next node says %+v, %v", n, behind, next, err)
			}
			back, err := Run(t.Context(), h.config())
			if err != nil || (back.Made != nil) != made || (back.By == "next") == made {
				t.Errorf("dead at write %d (behind it: %t), it says %+v, %v when it is back", n, behind, back, err)
			}
			if have := papers(t, h.config()); len(have) == 1 != made || len(have) > 1 {
				t.Errorf("it has %v", have)
			}
			right := next.Made
			if made {
				right = back.Made
			}
			h.wantComplete(t, right)
		}
	}
}

func TestFirstRunIsReportedOnlyByANodeThatHasJustJoined(t *testing.T) {
	h := newFixture(t)
	h.run(t)
	late := h.other(t, "late")
	if r, err := Run(t.Context(), late); err != nil || r.Made != nil || r.By != "here" {
		t.Errorf("it says %+v, %v", r, err)
	}
	late.New = false
	if r, err := Run(t.Context(), late); err != nil || r != (Result{}) {
		t.Errorf("at its next start it says %+v, %v", r, err)
	}
}

// A version before made the administrator, the application and the settings one after the other, and had written
// first-run.json before that.
func TestFirstRunKilledInAnEarlierVersionIsFinished(t *testing.T) {
	for steps := range 4 {
		h := newFixture(t)
		drawn, application := new(Record), h.config().application()
		drawn.Draw(base, &application)
		if err := drawn.Write(h.path); err != nil {
			t.Fatal(err)
		}
		app := demo.Draft(base, drawn.App.Draft())
		for i, step := range []func() error{
			func() error {
				u := storage.User{Username: "admin", Role: storage.RoleAdmin}
				_, err := h.users.Create(t.Context(), u, drawn.Admin.Password)
				return err
			},
			func() error { _, err := h.store.SaveApp(t.Context(), app); return err },
			func() error { return h.store.Set(t.Context(), demo.SettingClient, app.ID) },
		} {
			if i >= steps {
				break
			}
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		h.run(t)
		kept, err := firstrun.Read(h.path)
		if err != nil || kept == nil {
			t.Fatalf("after %d steps the paper is %v, %v", steps, kept, err)
		}
		h.wantComplete(t, kept)
	}
}

// Nodes with the demo start at once on a store that commands have filled.
func TestDemoOfManyNodesAtOnceIsRegisteredByOne(t *testing.T) {
	for range 20 {
		h := newFixture(t)
		if _, err := h.users.Create(t.Context(), storage.User{Username: "ada"}, "correct horse"); err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		for i := range 5 {
			c := h.other(t, fmt.Sprint(i))
			work.Go(func() {
				if r, err := Run(t.Context(), c); err != nil || r.Made != nil {
					t.Errorf("Run() = %v, %v", r, err)
				}
			})
		}
		work.Wait()
		if apps, _, _ := h.store.Apps(t.Context(), "", "", 10); len(apps) != 1 {
			t.Fatalf("there are %d applications", len(apps))
		}
		for i := range 5 { // and all of them without it, or at another address
			c := h.other(t, fmt.Sprint(i))
			c.Demo, c.BaseURL = i%2 == 0, "https://id.example.com"
			work.Go(func() {
				if _, err := Run(t.Context(), c); err != nil {
					t.Errorf("Run() = %v", err)
				}
			})
		}
		work.Wait()
	}
}
