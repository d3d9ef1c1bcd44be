package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/transfer"
)

// opened is a store with a master key's mark, a feature and an application.
func opened(t *testing.T) *memory.Store {
	t.Helper()
	b := memory.New()
	store, err := storage.Open(t.Context(), b, key)
	if err == nil {
		_, err = store.SaveApp(t.Context(), storage.App{Name: "Acme"})
	}
	if err == nil {
		_, err = store.RevokeDated(t.Context(), driver.Revocation{Kind: driver.RevokeConsent, ID: "a=u", Before: noon})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var key = storage.NewMasterKey()

// fill writes n rows of each kind, and some that are gone again.
func fill(t *testing.T, b driver.Backend, prefix string, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprint(prefix, i)
		err := errors.Join(
			b.Issue(t.Context(), driver.Token{Key: driver.Key{prefix[0], byte(i)}, Kind: "code", Grant: name, GrantedAt: noon}),
			b.Revoke(t.Context(), driver.Revocation{Kind: "grant", ID: "of " + name}),
			b.Count(t.Context(), driver.Batch{Node: name, Seq: uint64(i) + 1},
				[]driver.Count{{AppID: name, Product: "p", At: noon, Calls: 1}}),
			b.Append(t.Context(), driver.Record{At: noon, Data: []byte(name)}),
		)
		if _, put := b.Put(t.Context(), driver.Doc{Kind: "thing", ID: name, Index: []string{"all"},
			Data: []byte(name)}); err != nil || put != nil {
			t.Fatal(err, put)
		}
	}
	_, err := b.Prune(t.Context(), 3, 3)
	if err = errors.Join(err, b.Exchange(t.Context(), driver.Key{prefix[0]}, noon)); err != nil {
		t.Fatal(err)
	}
}

// dump is a whole store.
func dump(t *testing.T, b transfer.Adapter) map[transfer.Table][]transfer.Row {
	t.Helper()
	all := map[transfer.Table][]transfer.Row{}
	for _, table := range transfer.Tables() {
		for after := []byte(nil); ; {
			page, err := b.Rows(t.Context(), table, after, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			all[table] = append(all[table], page...)
			after = page[len(page)-1].Key
		}
	}
	return all
}

func wantEqual(t *testing.T, got, want transfer.Adapter) {
	t.Helper()
	a, b := dump(t, got), dump(t, want)
	for _, table := range transfer.Tables() {
		if !reflect.DeepEqual(a[table], b[table]) {
			t.Errorf("%s: %d rows, want the %d of the source", table, len(a[table]), len(b[table]))
		}
	}
}

func wantOpen(t *testing.T, b driver.Backend, want error, words ...string) {
	t.Helper()
	_, err := storage.Open(t.Context(), b, key)
	if !errors.Is(err, want) {
		t.Fatalf("storage.Open() = %v, want %v", err, want)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("storage.Open() = %v, want the word %q", err, word)
		}
	}
}

func TestCopyHasEveryRowAndGoesOnCountingBehindTheLast(t *testing.T) {
	source, target := opened(t), memory.New()
	fill(t, source, "n", 40)
	before := dump(t, source)
	last := transfer.Progress{}
	report, err := transfer.Copy(t.Context(), source, target, transfer.Options{PageRows: 7,
		Progress: func(p transfer.Progress) { last = p }})
	if err != nil || !report.Verified || !report.Finished {
		t.Fatalf("Copy() = %+v, %v", report, err)
	}
	for _, table := range report.Tables {
		if rows := len(before[table.Table]); table.Source != table.Target || table.Source.Rows != rows ||
			table.Changed != 0 || len(table.Source.SHA256) != 64 {
			t.Errorf("%+v, want %d rows on both sides", table, rows)
		}
	}
	if last.Table != transfer.Documents || !last.Verifying || last.Rows != len(before[transfer.Documents]) {
		t.Errorf("at the end it was told %+v", last)
	}
	wantEqual(t, target, source)
	if !reflect.DeepEqual(dump(t, source), before) {
		t.Error("the source was changed")
	}
	version, err := target.Put(t.Context(), driver.Doc{Kind: "thing", ID: "new"})
	if want, _ := source.Put(t.Context(), driver.Doc{Kind: "thing", ID: "new"}); err != nil || version != want {
		t.Errorf("the next version is %d, %v, want %d", version, err, want)
	}
	if err := target.Exchange(t.Context(), driver.Key{'n'}, noon); !errors.Is(err, driver.ErrSpent) {
		t.Errorf("Exchange(a token spent before the copy) = %v", err)
	}
	wantOpen(t, target, nil)
}

// stopping is a target that fails after some Loads.
type stopping struct {
	*memory.Store
	left int
}

var errStopped = errors.New("stopped")

func (s *stopping) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	if s.left--; s.left < 0 {
		return errStopped
	}
	return s.Store.Load(ctx, table, rows, gone)
}

// Whenever it is stopped, the target cannot be served from, and the next run writes the rest alone.
func TestCopyThatIsStoppedGoesOnWhereItWas(t *testing.T) {
	source := opened(t)
	fill(t, source, "n", 20)
	total := 0
	for _, rows := range dump(t, source) {
		total += len(rows)
	}
	for loads := 0; ; loads++ {
		target := memory.New()
		o := transfer.Options{PageRows: 5, Source: "bolt:/somewhere"}
		first, err := transfer.Copy(t.Context(), source, &stopping{target, loads}, o)
		if err == nil {
			if loads < 20 {
				t.Errorf("it took %d steps only", loads)
			}
			break
		}
		if !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		if loads > 0 {
			wantOpen(t, target, storage.ErrUnfinished, "bolt:/somewhere", "run the same keystile storage copy again")
		}
		again, err := transfer.Copy(t.Context(), source, target, o)
		if err != nil || !again.Finished {
			t.Fatalf("after %d steps: %+v, %v", loads, again, err)
		}
		written := 0
		for i := range again.Tables {
			written += again.Tables[i].Written
			if i < len(first.Tables) {
				written += first.Tables[i].Written
			}
		}
		// The step that failed was not counted; the list of features is written with the end.
		if written != total-1 {
			t.Errorf("after %d steps: %d rows were written in the two runs, want each of %d once", loads, written, total-1)
		}
		wantEqual(t, target, source)
		wantOpen(t, target, nil)
	}
}

func TestCopyRepairsDifferencesAndRemovesTheSurplus(t *testing.T) {
	source, target := opened(t), memory.New()
	fill(t, source, "n", 30)
	if _, err := transfer.Copy(t.Context(), source, target, transfer.Options{Live: true}); err != nil {
		t.Fatal(err)
	}
	wantOpen(t, target, storage.ErrUnfinished)
	all := dump(t, target)
	for _, table := range transfer.Tables() {
		rows := all[table]
		for _, i := range []int{0, len(rows) / 2} { // one gone, the next with the value of another
			if table == transfer.Counters || table == transfer.Documents && i == 0 {
				continue // none can be removed; the mark is a document
			}
			swapped := transfer.Row{Key: rows[i+1].Key, Value: rows[i+2].Value}
			if err := target.Load(t.Context(), table, []transfer.Row{swapped}, [][]byte{rows[i].Key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(t, target, "more", 4)
	report, err := transfer.Copy(t.Context(), source, target, transfer.Options{PageRows: 3})
	if err != nil || !report.Finished {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, table := range report.Tables {
		if table.Table != transfer.Counters && (table.Written < 2 || table.Removed < 1) {
			t.Errorf("%+v: nothing was repaired or removed", table)
		}
	}
	wantEqual(t, target, source)
}

// writing is a source that others write to while it is read: before each of some pages.
type writing struct {
	*memory.Store
	left  int
	write func()
}

func (w *writing) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
	if w.left--; w.left == 0 {
		w.write()
	}
	return w.Store.Rows(ctx, table, after, n)
}

// Whenever the source changes, either the copy has the change or it says so and is not served from.
func TestSourceThatChangesMeanwhileIsNoticed(t *testing.T) {
	noticed := 0
	for page := 1; ; page++ {
		source, target := opened(t), memory.New()
		fill(t, source, "n", 9)
		w := &writing{source, page, func() { fill(t, source, "later", 1) }}
		report, err := transfer.Copy(t.Context(), w, target, transfer.Options{PageRows: 4})
		if w.left > 0 {
			break // it took fewer pages
		}
		switch {
		case errors.Is(err, transfer.ErrChanged):
			noticed++
			if report.Finished || report.Verified || !strings.Contains(err.Error(), "stop the server") {
				t.Errorf("page %d: %+v, %v", page, report, err)
			}
			wantOpen(t, target, storage.ErrUnfinished)
			if report, err = transfer.Copy(t.Context(), source, target, transfer.Options{}); err != nil || !report.Finished {
				t.Fatalf("the second run: %+v, %v", report, err)
			}
		case err != nil:
			t.Fatal(err)
		}
		wantEqual(t, target, source)
	}
	if noticed < 10 {
		t.Errorf("a change was noticed %d times only", noticed)
	}
}

func TestCopyOfALiveStoreIsUnfinishedUntilTheLastRun(t *testing.T) {
	source, target := opened(t), memory.New()
	fill(t, source, "n", 9)
	report, err := transfer.Copy(t.Context(), source, target, transfer.Options{Live: true, Source: "postgres://db/x"})
	if err != nil || !report.Verified || report.Finished {
		t.Fatalf("%+v, %v", report, err)
	}
	wantOpen(t, target, storage.ErrUnfinished, "postgres://db/x")
	fill(t, source, "later", 1)
	report, err = transfer.Copy(t.Context(), source, target, transfer.Options{})
	if err != nil || !report.Finished || report.Tables[1].Written != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	wantEqual(t, target, source)
}

func TestTargetThatIsNotEmptyIsRefusedAndLeftAsItIs(t *testing.T) {
	source, used, other := opened(t), memory.New(), memory.New()
	fill(t, source, "n", 9)
	version, err := used.Put(t.Context(), driver.Doc{Kind: "thing", ID: "x"})
	if _, put := used.Put(t.Context(), driver.Doc{Kind: "thing", ID: "x", Version: version, Deleted: true}); err != nil ||
		put != nil {
		t.Fatal(err, put)
	}
	if _, err := transfer.Copy(t.Context(), opened(t), other, transfer.Options{Live: true,
		Source: "bolt:/other"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		target *memory.Store
		want   string
	}{
		{"a store in use", opened(t), "Empty it"},
		{"a store whose rows are gone", used, "counters"},
		{"the copy of another store", other, "bolt:/other"},
		{"the source itself", source, "Empty it"},
	} {
		before := dump(t, c.target)
		_, err := transfer.Copy(t.Context(), source, c.target, transfer.Options{})
		if !errors.Is(err, transfer.ErrNotEmpty) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Copy() = %v, want ErrNotEmpty and the word %q", c.name, err, c.want)
		}
		if !reflect.DeepEqual(dump(t, c.target), before) {
			t.Errorf("%s was changed", c.name)
		}
	}
}

func TestUnfinishedCopyIsNoSource(t *testing.T) {
	half, target := memory.New(), memory.New()
	if _, err := transfer.Copy(t.Context(), opened(t), half, transfer.Options{Live: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Copy(t.Context(), half, target, transfer.Options{}); !errors.Is(err, transfer.ErrUnfinished) {
		t.Errorf("Copy(an unfinished copy) = %v, want ErrUnfinished", err)
	}
	if len(dump(t, target)[transfer.Documents]) > 0 {
		t.Error("the target was written to")
	}
}

func TestDryRunWritesNothingAndTellsHowMuchThereIs(t *testing.T) {
	source, target := opened(t), memory.New()
	fill(t, source, "n", 9)
	before := dump(t, target)
	report, err := transfer.Copy(t.Context(), source, target, transfer.Options{DryRun: true, PageRows: 4})
	if err != nil || report.Verified || report.Finished || report.Tables[1].Written != 9 {
		t.Errorf("%+v, %v", report, err)
	}
	if !reflect.DeepEqual(dump(t, target), before) {
		t.Error("the target was written to")
	}
}

// forgetful is a target that loses what it was given, or changes it.
type forgetful struct {
	*memory.Store
	spoil func(transfer.Table, []transfer.Row) []transfer.Row
}

func (f forgetful) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	return f.Store.Load(ctx, table, f.spoil(table, slices.Clone(rows)), gone)
}

func TestTargetThatDoesNotHoldWhatWasWrittenIsNoticed(t *testing.T) {
	source := opened(t)
	fill(t, source, "n", 9)
	for name, spoil := range map[string]func(transfer.Table, []transfer.Row) []transfer.Row{
		"a row is lost": func(table transfer.Table, rows []transfer.Row) []transfer.Row {
			if table == transfer.Usage && len(rows) > 0 {
				rows = rows[1:]
			}
			return rows
		},
		"a number is changed": func(table transfer.Table, rows []transfer.Row) []transfer.Row {
			if table == transfer.Counters && len(rows) > 0 {
				rows[0] = transfer.CounterRow(transfer.LastRecord, 1)
			}
			return rows
		},
	} {
		target := memory.New()
		report, err := transfer.Copy(t.Context(), source, forgetful{target, spoil}, transfer.Options{})
		if !errors.Is(err, transfer.ErrDiffers) || report.Finished {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		wantOpen(t, target, storage.ErrUnfinished)
	}
}

func TestCopyTakesOnlyAdaptersThatCan(t *testing.T) {
	type bare struct{ driver.Backend }
	if _, err := transfer.Copy(t.Context(), bare{memory.New()}, memory.New(), transfer.Options{}); !errors.Is(err,
		transfer.ErrUnable) || !strings.Contains(err.Error(), "source") {
		t.Errorf("from a bare Backend: %v", err)
	}
	if _, err := transfer.Copy(t.Context(), memory.New(), bare{memory.New()}, transfer.Options{}); !errors.Is(err,
		transfer.ErrUnable) || !strings.Contains(err.Error(), "target") {
		t.Errorf("to a bare Backend: %v", err)
	}
}

func TestCopyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	source, target := opened(t), memory.New()
	fill(t, source, "n", 30)
	_, err := transfer.Copy(ctx, source, target, transfer.Options{PageRows: 5,
		Progress: func(transfer.Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Copy(a canceled context) = %v", err)
	}
	wantOpen(t, target, storage.ErrUnfinished)
}

// busy is a target that ends calls with more rows than it can write in time.
type busy struct {
	*memory.Store
	most, refused int
}

func (b *busy) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	if len(rows)+len(gone) > b.most {
		b.refused++
		return errStopped
	}
	return b.Store.Load(ctx, table, rows, gone)
}

func TestStepThatIsTooMuchForTheTargetIsTakenInHalves(t *testing.T) {
	source, target := opened(t), &busy{Store: memory.New(), most: 150}
	for i := range 500 {
		if err := source.Append(t.Context(), driver.Record{At: noon, Data: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := transfer.Copy(t.Context(), source, target, transfer.Options{}); err != nil || target.refused == 0 {
		t.Fatalf("Copy() = %v, after %d refusals", err, target.refused)
	}
	wantEqual(t, target, source)
	if _, err := transfer.Copy(t.Context(), source, &busy{Store: memory.New(), most: 60},
		transfer.Options{}); !errors.Is(err, errStopped) {
		t.Errorf("Copy(to one that takes nearly nothing) = %v, want its error", err)
	}
}
