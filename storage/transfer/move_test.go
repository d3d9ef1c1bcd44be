package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/nodes"
	"github.com/keystile/keystile/storage/transfer"
)

// leaving marks a source as moved.
func leaving(source driver.Backend, to string) transfer.Options {
	return transfer.Options{Leave: func(ctx context.Context) error {
		return transfer.Leave(ctx, source, transfer.Move{To: to, At: noon})
	}}
}

func wantMoved(t *testing.T, b driver.Backend, to string) {
	t.Helper()
	_, err := storage.Open(t.Context(), b, key)
	if to == "" {
		if err != nil {
			t.Errorf("it does not open: %v", err)
		}
		return
	}
	if !errors.Is(err, storage.ErrMoved) || !strings.Contains(err.Error(), to) {
		t.Errorf("it opens with %v, want that it has moved to %s", err, to)
	}
}

func TestSourceThatWasCopiedIsNotServedAnyMore(t *testing.T) {
	source, target := opened(t), memory.New()
	if _, err := transfer.Copy(t.Context(), source, target, leaving(source, "there")); err != nil {
		t.Fatal(err)
	}
	wantMoved(t, source, "there")
	wantMoved(t, target, "")
	if move, err := transfer.ReadMove(t.Context(), target); move != nil || err != nil {
		t.Errorf("the copy has the mark %v, %v", move, err)
	}
	if err := transfer.Reopen(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	wantMoved(t, source, "")
	features, err := source.Get(t.Context(), "format", "features")
	if err != nil || bytes.Contains(features.Data, []byte("moved")) {
		t.Errorf("the list of features is %s, %v", features.Data, err)
	}
}

func TestSourceOfALiveOrDryRunIsNotMarked(t *testing.T) {
	source := opened(t)
	for _, o := range []transfer.Options{{Live: true}, {DryRun: true}} {
		o.Leave = leaving(source, "there").Leave
		if _, err := transfer.Copy(t.Context(), source, memory.New(), o); err != nil {
			t.Fatal(err)
		}
		wantMoved(t, source, "")
	}
}

// The process dies before the mark, and behind it: at no moment may both be served.
func TestCopyThatWasKilledAtTheMarkIsFinishedByTheNextRun(t *testing.T) {
	for _, marked := range []bool{false, true} {
		source, target := opened(t), memory.New()
		o := leaving(source, "there")
		leave, dead := o.Leave, errors.New("dead")
		o.Leave = func(ctx context.Context) error {
			if marked {
				return errors.Join(leave(ctx), dead)
			}
			return dead
		}
		if r, err := transfer.Copy(t.Context(), source, target, o); !errors.Is(err, dead) || r.Finished {
			t.Fatalf("Copy() = %+v, %v", r, err)
		}
		if _, err := storage.Open(t.Context(), target, key); !errors.Is(err, storage.ErrUnfinished) {
			t.Errorf("the target opens with %v", err)
		}
		if to := map[bool]string{true: "there"}[marked]; to == "" {
			wantMoved(t, source, "")
		} else {
			wantMoved(t, source, to)
		}
		o.Leave = leave
		r, err := transfer.Copy(t.Context(), source, target, o)
		if err != nil || !r.Finished || !r.Verified {
			t.Fatalf("the next run: %+v, %v", r, err)
		}
		wantMoved(t, source, "there")
		wantMoved(t, target, "")
	}
}

func TestStoreThatHasMovedIsCopiedAgainWithoutItsMark(t *testing.T) {
	source, again := opened(t), memory.New()
	if _, err := transfer.Copy(t.Context(), source, memory.New(), leaving(source, "there")); err != nil {
		t.Fatal(err)
	}
	r, err := transfer.Copy(t.Context(), source, again, leaving(source, "elsewhere"))
	if err != nil || !r.Finished {
		t.Fatalf("Copy() = %+v, %v", r, err)
	}
	for _, table := range r.Tables {
		if table.Source != table.Target {
			t.Errorf("%s: %+v and %+v", table.Table, table.Source, table.Target)
		}
	}
	wantMoved(t, again, "")
	wantMoved(t, source, "there")
}

func TestStoreIsCopiedBackOnlyIfThatIsSaid(t *testing.T) {
	a, b := opened(t), memory.New()
	if _, err := transfer.Copy(t.Context(), a, b, leaving(a, "b")); err != nil {
		t.Fatal(err)
	}
	there, err := storage.Open(t.Context(), b, key)
	if err != nil {
		t.Fatal(err)
	}
	late, err := there.SaveApp(t.Context(), storage.App{Name: "Late"})
	if err != nil {
		t.Fatal(err)
	}
	o := leaving(b, "a")
	if _, err := transfer.Copy(t.Context(), b, a, o); !errors.Is(err, transfer.ErrNotEmpty) ||
		!strings.Contains(err.Error(), "--back") {
		t.Errorf("without a word it is %v", err)
	}
	wantMoved(t, b, "")
	o.Back = true
	if r, err := transfer.Copy(t.Context(), b, a, o); err != nil || !r.Finished {
		t.Fatalf("Copy() = %+v, %v", r, err)
	}
	wantMoved(t, b, "a")
	here, err := storage.Open(t.Context(), a, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := here.App(t.Context(), late.ID); err != nil {
		t.Errorf("what was written there is not here: %v", err)
	}
	// Neither a store that is served nor another one is written over.
	for _, target := range []*memory.Store{opened(t), moved(t)} {
		if _, err := transfer.Copy(t.Context(), a, target, transfer.Options{Back: true}); !errors.Is(err,
			transfer.ErrNotEmpty) {
			t.Errorf("it is %v", err)
		}
	}
}

// moved is another store, which has moved.
func moved(t *testing.T) *memory.Store {
	b := memory.New()
	if _, err := storage.Open(t.Context(), b, storage.NewMasterKey()); err != nil {
		t.Fatal(err)
	}
	if err := transfer.Leave(t.Context(), b, transfer.Move{To: "elsewhere", At: noon}); err != nil {
		t.Fatal(err)
	}
	return b
}

// reader is a backend that nothing is written to.
type reader struct{ driver.Backend }

func (reader) ReadsOnly()               {}
func (r reader) Unwrap() driver.Backend { return r.Backend }

func TestStoreThatHasMovedIsRead(t *testing.T) {
	source := opened(t)
	if err := transfer.Leave(t.Context(), source, transfer.Move{To: "there", At: noon}); err != nil {
		t.Fatal(err)
	}
	store, err := storage.Open(t.Context(), reader{source}, key)
	if err != nil {
		t.Fatal(err)
	}
	if apps, _, err := store.Apps(t.Context(), "", "", 10); err != nil || len(apps) != 1 {
		t.Errorf("it has %v, %v", apps, err)
	}
}

func TestProcessThatRunsOnAStoreThatMovesWritesNoMore(t *testing.T) {
	b := opened(t)
	running, err := storage.Open(t.Context(), b, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := transfer.Leave(t.Context(), b, transfer.Move{To: "there", At: noon}); err != nil {
		t.Fatal(err)
	}
	beat := nodes.Beat{ID: "here", Ends: noon}
	if _, err := running.SaveBeat(t.Context(), beat); !errors.Is(err, storage.ErrMoved) {
		t.Errorf("the beat is answered %v", err)
	}
	_, err = running.SaveApp(t.Context(), storage.App{Name: "Late"})
	if !errors.Is(err, storage.ErrMoved) || !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a write is answered %v", err)
	}
	if err := running.Ready(t.Context()); !errors.Is(err, storage.ErrMoved) {
		t.Errorf("Ready() = %v", err)
	}
}
