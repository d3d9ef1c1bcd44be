package transfer_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

var (
	first = time.Time{}
	noon  = time.Date(2031, time.July, 1, 12, 0, 0, 123456789, time.UTC)
	last  = time.Date(9999, time.December, 31, 23, 59, 59, 999999999, time.UTC)
)

// rows are rows of each table, and what they hold.
func rows() map[transfer.Table][]struct {
	row  transfer.Row
	read func(transfer.Row) (any, error)
	want any
} {
	type of = struct {
		row  transfer.Row
		read func(transfer.Row) (any, error)
		want any
	}
	full := driver.Token{
		Key: driver.Key{1, 2, 39: 3}, Kind: "refresh", Grant: "g", GrantedAt: noon, AppID: "ä\x01", UserID: "u", Scope: "a b",
		IssuedAt: first, ExpiresAt: last, SpentAt: noon.Add(1), AuthTime: noon, LoginType: "qq", Resource: "r",
		RedirectURI: strings.Repeat("x", 300),
		Challenge:   "c", Method: "S256", Nonce: "n", IP: "::1", SignIn: `{"amr":["pwd"]}`,
	}
	out := map[transfer.Table][]of{}
	for _, t := range []driver.Token{full, {}} {
		out[transfer.Tokens] = append(out[transfer.Tokens], of{transfer.TokenRow(t),
			func(r transfer.Row) (any, error) { return r.Token() }, t})
	}
	for _, x := range []driver.Revocation{{Seq: 1<<63 - 1, Kind: "app", ID: "ü", Before: noon, Until: last}, {}} {
		out[transfer.Revocations] = append(out[transfer.Revocations],
			of{transfer.RevocationRow(x), func(r transfer.Row) (any, error) { return r.Revocation() }, x})
	}
	for _, daily := range []bool{false, true} {
		x := driver.Count{AppID: "a", Product: "p", At: noon, Calls: 1<<63 - 1, Errors: 7}
		out[transfer.Usage] = append(out[transfer.Usage], of{transfer.UsageRow(x, daily), func(r transfer.Row) (any, error) {
			c, d, err := r.Usage()
			return []any{c, d}, err
		}, []any{x, daily}})
	}
	batch := driver.Batch{Node: "n", Seq: 1<<64 - 1}
	out[transfer.Batches] = []of{{transfer.BatchRow(batch), func(r transfer.Row) (any, error) { return r.Batch() }, batch}}
	record := driver.Record{Seq: 9, At: first, Data: []byte{0, 255}}
	out[transfer.Audit] = []of{{transfer.RecordRow(record), func(r transfer.Row) (any, error) { return r.Record() },
		record}}
	doc := driver.Doc{Kind: "k", ID: "i", Version: 5, Index: []string{"b", "a", "b"}, ExpiresAt: last,
		Data: []byte("{}\n")}
	out[transfer.Documents] = []of{{transfer.DocRow(doc), func(r transfer.Row) (any, error) { return r.Doc() }, doc}}
	for _, name := range transfer.CounterNames() {
		out[transfer.Counters] = append(out[transfer.Counters], of{transfer.CounterRow(name, 12),
			func(r transfer.Row) (any, error) {
				name, n, err := r.Counter()
				return []any{name, n}, err
			}, []any{name, uint64(12)}})
	}
	return out
}

func TestRowHoldsItsRecordToTheNanosecond(t *testing.T) {
	all := rows()
	for _, table := range transfer.Tables() {
		if len(all[table]) == 0 {
			t.Errorf("no row of %s is tried", table)
		}
		for _, c := range all[table] {
			got, err := c.read(c.row)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %+v, %v, want %+v", table, got, err, c.want)
			}
		}
	}
}

// Two spellings of one record would be two records to a checksum.
func TestRowParsesNoOtherBytes(t *testing.T) {
	open := map[transfer.Table]bool{transfer.Audit: true, transfer.Documents: true} // they end in data of any length
	for table, all := range rows() {
		for _, c := range all {
			var bad []transfer.Row
			for n := range len(c.row.Key) {
				bad = append(bad, transfer.Row{Key: c.row.Key[:n], Value: c.row.Value})
			}
			bad = append(bad, transfer.Row{Key: append(slices.Clone(c.row.Key), 0), Value: c.row.Value})
			if open[table] {
				bad = append(bad, transfer.Row{Key: c.row.Key, Value: c.row.Value[:11]})
			} else {
				for n := range len(c.row.Value) {
					bad = append(bad, transfer.Row{Key: c.row.Key, Value: c.row.Value[:n]})
				}
				bad = append(bad, transfer.Row{Key: c.row.Key, Value: append(slices.Clone(c.row.Value), 0)})
			}
			for _, r := range bad {
				if _, err := c.read(r); !errors.Is(err, driver.ErrInvalid) || !strings.Contains(err.Error(), string(table)) {
					t.Errorf("%s: %x = %x is read, %v", table, r.Key, r.Value, err)
				}
			}
		}
	}
}

func TestRowsLieAsTheirColumnsDo(t *testing.T) {
	var usage [][]byte
	for _, app := range []string{"", "a", "a\x01", "aa", "ä"} {
		for _, daily := range []bool{false, true} {
			for _, at := range []time.Time{first, noon, noon.Add(1), last} {
				for _, product := range []string{"", "p", "p\x01", "pp"} {
					usage = append(usage, transfer.UsageRow(driver.Count{AppID: app, At: at, Product: product}, daily).Key)
				}
			}
		}
	}
	var docs [][]byte
	for _, kind := range []string{"a", "a\x01", "a ", "b"} {
		for _, id := range []string{"\x01", "1", "10", "2", "é", "\U0010ffff"} {
			docs = append(docs, transfer.DocRow(driver.Doc{Kind: kind, ID: id, Version: 1}).Key)
		}
	}
	for _, keys := range [][][]byte{usage, docs} {
		if !slices.IsSortedFunc(keys, bytes.Compare) {
			t.Error("the keys are not in the order of what they are made of")
		}
	}
}

func FuzzRow(f *testing.F) {
	for _, all := range rows() {
		for _, c := range all {
			f.Add(c.row.Key, c.row.Value)
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r := transfer.Row{Key: key, Value: value}
		again := []transfer.Row{}
		if x, err := r.Token(); err == nil {
			again = append(again, transfer.TokenRow(x))
		}
		if x, err := r.Revocation(); err == nil {
			again = append(again, transfer.RevocationRow(x))
		}
		if x, daily, err := r.Usage(); err == nil {
			again = append(again, transfer.UsageRow(x, daily))
		}
		if x, err := r.Batch(); err == nil {
			again = append(again, transfer.BatchRow(x))
		}
		if x, err := r.Record(); err == nil {
			again = append(again, transfer.RecordRow(x))
		}
		if x, err := r.Doc(); err == nil {
			again = append(again, transfer.DocRow(x))
		}
		if name, n, err := r.Counter(); err == nil {
			again = append(again, transfer.CounterRow(name, n))
		}
		for _, back := range again {
			if !bytes.Equal(back.Key, key) || !bytes.Equal(back.Value, value) {
				t.Errorf("%x = %x is read, and written as %x = %x", key, value, back.Key, back.Value)
			}
		}
	})
}
