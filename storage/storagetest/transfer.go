package storagetest

import (
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// RunTransfer holds a Backend to what it promises as a transfer.Adapter: that its whole store can be
// copied to another adapter, and another one's to it. Each call of open returns an empty Backend.
func RunTransfer(t *testing.T, open func(t *testing.T) driver.Backend) {
	for _, c := range []chapter{
		{"Rows", listingRows()},
		{"Rows pages", pagingRows()},
		{"Load", loading()},
		{"Load replaces", replacing()},
		{"Load removes", unloading()},
		{"Load refuses", refusingRows()},
		{"Copy", copyingStores()},
	} {
		t.Run(c.about, func(t *testing.T) { c.run(t, open) })
	}
	t.Run("Close", func(t *testing.T) {
		b := open(t)
		want(t, "Close()", b.Close(), nil)
		if _, err := adapter(t, b).Rows(t.Context(), transfer.Tokens, nil, 1); err == nil || verdict(err) {
			t.Errorf("Rows(of a closed Backend) = %v, want an error that is no verdict", err)
		}
		if err := adapter(t, b).Load(t.Context(), transfer.Tokens, samples()[transfer.Tokens], nil); err == nil ||
			verdict(err) {
			t.Errorf("Load(into a closed Backend) = %v, want an error that is no verdict", err)
		}
	})
}

// adapter is a Backend as one that can be copied.
func adapter(t testing.TB, b driver.Backend) transfer.Adapter {
	t.Helper()
	a, ok := b.(transfer.Adapter)
	if !ok {
		t.Fatalf("%T does not implement transfer.Adapter", b)
	}
	return a
}

// load writes rows into a Backend.
func load(t testing.TB, b driver.Backend, table transfer.Table, rows ...transfer.Row) {
	t.Helper()
	want(t, "Load("+string(table)+")", adapter(t, b).Load(t.Context(), table, rows, nil), nil)
}

// loadAll writes the samples of every table.
func loadAll(t testing.TB, b driver.Backend) {
	t.Helper()
	for table, rows := range samples() {
		load(t, b, table, rows...)
	}
}

// listed reads a whole table in pages of n.
func listed(t testing.TB, b driver.Backend, table transfer.Table, n int) (rows []transfer.Row) {
	t.Helper()
	var after []byte
	for {
		page, err := adapter(t, b).Rows(t.Context(), table, after, n)
		want(t, "Rows("+string(table)+")", err, nil)
		if len(page) == 0 {
			return rows
		}
		if len(page) > n {
			t.Fatalf("Rows(%s, n = %d) = %d rows", table, n, len(page))
		}
		for _, r := range page {
			if after != nil && string(r.Key) <= string(after) {
				t.Fatalf("Rows(%s) lists %q behind %q, want keys that ascend by their bytes", table, r.Key, after)
			}
			after = r.Key
		}
		rows = append(rows, page...)
	}
}

// wantRows checks what a table holds.
func wantRows(t testing.TB, b driver.Backend, table transfer.Table, rows ...transfer.Row) {
	t.Helper()
	sameRows(t, table, listed(t, b, table, transfer.PageRows), rows)
}

func sameRows(t testing.TB, table transfer.Table, got, want []transfer.Row) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if string(got[i].Key) != string(want[i].Key) {
			t.Fatalf("row %d of %s is %q, want %q", i, table, got[i].Key, want[i].Key)
		}
		if string(got[i].Value) != string(want[i].Value) {
			t.Fatalf("row %d of %s, %q, has the value\n%q, want\n%q", i, table, got[i].Key, got[i].Value, want[i].Value)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s has %d rows, want %d", table, len(got), len(want))
	}
}
