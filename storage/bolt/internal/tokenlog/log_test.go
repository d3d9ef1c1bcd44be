package tokenlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// image is a file in memory. Its calls may fail.
type image struct {
	bytes []byte
	fail  func(call string) error
	calls []string
}

func (m *image) do(call string) error {
	m.calls = append(m.calls, call)
	if m.fail == nil {
		return nil
	}
	return m.fail(call)
}

func (m *image) WriteAt(b []byte, at int64) (int, error) {
	if more := int(at) + len(b) - len(m.bytes); more > 0 {
		m.bytes = append(m.bytes, make([]byte, more)...)
	}
	copy(m.bytes[at:], b)
	return len(b), m.do("write")
}

func (m *image) Flush() error { return m.do("flush") }
func (m *image) Close() error { return m.do("close") }

func begun(t testing.TB) (*Log, *image) {
	t.Helper()
	m := &image{}
	l, err := Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	m.calls = nil
	return l, m
}

// made returns n rows whose values have up to size bytes.
func made(dice *rand.Rand, n, size int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{driver.Key{}, dice.IntN(2) == 0, make([]byte, 1+dice.IntN(size))}
		for j := range rows[i].Key {
			rows[i].Key[j] = byte(dice.Uint32())
		}
		for j := range rows[i].Value {
			rows[i].Value[j] = byte(dice.Uint32())
		}
	}
	return rows
}

func appended(t testing.TB, l *Log, base uint64, blocks ...[]Row) {
	t.Helper()
	for _, rows := range blocks {
		if err := l.Append(base, rows); err != nil {
			t.Fatal(err)
		}
	}
}

func dice() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func wantRows(t *testing.T, what string, got []Row, err error, want ...[]Row) {
	t.Helper()
	var all []Row
	for _, rows := range want {
		all = append(all, rows...)
	}
	if err != nil || len(got) != len(all) || len(all) > 0 && !reflect.DeepEqual(got, all) {
		t.Fatalf("%s: %d rows, %v, want %d", what, len(got), err, len(all))
	}
}

func TestReadReturnsTheRowsBehindTheLastTransactionInTheirOrder(t *testing.T) {
	path, dice := filepath.Join(t.TempDir(), "k.db.wal"), dice()
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Begin(f)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := Read(path, l.ID(), 7)
	wantRows(t, "an empty log", got, err)
	for base := uint64(7); base < 40; base += 1 + dice.Uint64N(3) {
		var blocks [][]Row
		for range 1 + dice.IntN(9) {
			blocks = append(blocks, made(dice, 1+dice.IntN(30), 900))
			appended(t, l, base, blocks[len(blocks)-1])
			got, err := Read(path, l.ID(), base)
			wantRows(t, fmt.Sprintf("%d blocks of base %d", len(blocks), base), got, err, blocks...)
		}
		got, err := Read(path, l.ID(), base+1)
		wantRows(t, "what the file has", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != Size || info.Mode().Perm() != 0o600 {
		t.Errorf("the log is %v, %v, want %d bytes and 0600", info, err, Size)
	}
}

func TestAppendIsOneWriteAndOneFlush(t *testing.T) {
	l, m := begun(t)
	appended(t, l, 1, made(dice(), 64, 300))
	if want := []string{"write", "flush"}; !reflect.DeepEqual(m.calls, want) || len(m.bytes) != Size {
		t.Errorf("Append makes %v of %d bytes, want %v of %d", m.calls, len(m.bytes), want, Size)
	}
}

// older is a log whose blocks of base 1 are where those of base 2 go, and three blocks of base 2.
func older(t testing.TB) (id ID, before, after []byte, first, second, third []Row) {
	t.Helper()
	l, m := begun(t)
	dice := dice()
	for range 8 {
		appended(t, l, 1, made(dice, 20, 300))
	}
	first, second, third = made(dice, 3, 300), made(dice, 30, 300), made(dice, 30, 300)
	appended(t, l, 2, first, second)
	before = bytes.Clone(m.bytes)
	appended(t, l, 2, third)
	return l.ID(), before[:64*page], m.bytes[:64*page], first, second, third // the rest is zeros
}

// changed returns where the pages are that differ.
func changed(before, after []byte) (from, to int) {
	from = -1
	for i := range after {
		if before[i] != after[i] {
			if from < 0 {
				from = i / page * page
			}
			to = (i/page + 1) * page
		}
	}
	return from, to
}

func TestBlockThatIsTornAtAnyByteDoesNotCount(t *testing.T) {
	id, before, after, first, second, third := older(t)
	from, to := changed(before, after)
	if to-from < 2*page {
		t.Fatalf("the block has %d bytes, want two pages", to-from)
	}
	torn := bytes.Clone(before)
	for i := from; i < to; i++ {
		if torn[i] = after[i]; bytes.Equal(torn[from:to], after[from:to]) {
			got, err := read(torn, id, 2)
			wantRows(t, "the whole block", got, err, first, second, third)
			continue
		}
		got, err := read(torn, id, 2)
		wantRows(t, fmt.Sprintf("torn behind byte %d", i-from), got, err, first, second)
	}
	dice := dice()
	for range 2000 {
		torn, whole := bytes.Clone(after), true
		for at := from; at < to; at += 512 {
			if dice.IntN(2) == 0 {
				copy(torn[at:at+512], before[at:])
				whole = whole && bytes.Equal(torn[at:at+512], after[at:at+512])
			}
		}
		got, err := read(torn, id, 2)
		if whole {
			wantRows(t, "no sector is old", got, err, first, second, third)
		} else {
			wantRows(t, "some sectors are old", got, err, first, second)
		}
	}
}

func TestBlockIsNeverReadOtherwiseThanItWasWritten(t *testing.T) {
	id, _, after, first, second, third := older(t)
	end := page
	for _, rows := range [][]Row{first, second, third} {
		begin := end
		b, whole := cutBlock(after[begin:], id)
		if !whole {
			t.Fatal("it is not whole")
		}
		end += len(b.bytes)
		last := &rows[0] == &third[0]
		for i := begin; i < end; i++ {
			for _, flip := range []byte{1 << (i % 8), 0xff} {
				after[i] ^= flip
				got, err := read(after, id, 2)
				after[i] ^= flip
				switch {
				case last:
					wantRows(t, fmt.Sprintf("byte %d of the last block", i-begin), got, err, first, second)
				case !errors.Is(err, ErrDamaged) || got != nil:
					t.Fatalf("byte %d of a block that others follow: %d rows, %v, want ErrDamaged", i-begin, len(got), err)
				}
			}
		}
	}
	for i := range page { // the blocks say whose they are
		after[i] ^= 4
		got, err := read(after, id, 2)
		after[i] ^= 4
		wantRows(t, "a title", got, err, first, second, third)
	}
}

func TestBlocksThatAreGoneAreMissed(t *testing.T) {
	id, _, after, _, _, _ := older(t)
	clear(after[page : page+headSize])
	if _, err := read(after, id, 2); !errors.Is(err, ErrDamaged) {
		t.Errorf("read(without its first block) = %v, want ErrDamaged", err)
	}
}

func TestBlockBehindAHoleInTheNumbersIsDamage(t *testing.T) {
	l, m := begun(t)
	rows := made(dice(), 3, 300)
	appended(t, l, 2, rows)
	l.last.number++
	appended(t, l, 2, rows)
	if got, err := read(m.bytes, l.ID(), 2); !errors.Is(err, ErrDamaged) || got != nil {
		t.Errorf("read(blocks 1 and 3) = %d rows, %v, want ErrDamaged", len(got), err)
	}
}

func TestNewLogIsFlushedWhenItIsWritten(t *testing.T) {
	m := &image{}
	if _, err := Begin(m); err != nil {
		t.Fatal(err)
	}
	if last := len(m.calls) - 1; slices.Index(m.calls, "flush") != last {
		t.Errorf("Begin makes %v, want one flush, the last", m.calls)
	}
}

func TestLogThatIsAheadOfItsFileIsDamage(t *testing.T) {
	id, _, after, _, _, _ := older(t)
	if _, err := read(after, id, 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("read(of the file before) = %v, want ErrDamaged", err)
	}
}

func TestLogOfAnotherFileIsNotRead(t *testing.T) {
	dir := t.TempDir()
	other, m := begun(t)
	appended(t, other, 1, made(dice(), 3, 300))
	l, _ := begun(t)
	path := filepath.Join(dir, "k.db.wal")
	for what, c := range map[string]struct {
		file []byte
		want error
	}{
		"that of another file": {m.bytes, ErrMissing},
		"zeros":                {make([]byte, Size), ErrMissing},
		"nothing":              {nil, ErrDamaged},
		"a part of it":         {m.bytes[:Size-1], ErrDamaged},
		"more than it":         {append(bytes.Clone(m.bytes), 0), ErrDamaged},
	} {
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, err := Read(path, l.ID(), 1); !errors.Is(err, c.want) || rows != nil {
			t.Errorf("Read(%s) = %d rows, %v, want %v", what, len(rows), err, c.want)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), l.ID(), 1); !errors.Is(err, ErrMissing) {
		t.Errorf("Read(none) = %v, want ErrMissing", err)
	}
	if _, err := Read(dir, l.ID(), 1); err == nil {
		t.Error("Read(a folder) = nil, want an error")
	}
}

func TestFullLogTakesNothingUntilTheFileHasIt(t *testing.T) {
	l, m := begun(t)
	dice, blocks := dice(), [][]Row{}
	for {
		rows := made(dice, 200, 900)
		written := len(m.calls)
		err := l.Append(3, rows)
		if errors.Is(err, ErrFull) {
			if len(m.calls) != written {
				t.Errorf("it was written all the same: %v", m.calls[written:])
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, rows)
		if len(m.bytes) != Size {
			t.Fatalf("the log has grown to %d bytes, want %d", len(m.bytes), Size)
		}
	}
	got, err := read(m.bytes, l.ID(), 3)
	wantRows(t, "a full log", got, err, blocks...)
	for range 2 { // a block larger than a log is never taken
		if err := l.Append(3, made(dice, 6000, 1500)); !errors.Is(err, ErrFull) {
			t.Errorf("Append(too much) = %v, want ErrFull", err)
		}
	}
	next := made(dice, 9, 900)
	appended(t, l, 4, next)
	got, err = read(m.bytes, l.ID(), 4)
	wantRows(t, "the next transaction", got, err, next)
}

func TestFailureOfTheDiskIsToldAtEveryCall(t *testing.T) {
	broken := errors.New("broken")
	for n := 1; ; n++ {
		m, calls := &image{}, 0
		m.fail = func(string) error {
			if calls++; calls == n {
				return broken
			}
			return nil
		}
		l, err := Begin(m)
		if err == nil {
			err = l.Append(1, made(dice(), 1, 9))
		}
		if calls < n {
			if err != nil || n < 5 {
				t.Errorf("%d calls: %v", calls, err)
			}
			return
		}
		if !errors.Is(err, broken) || errors.Is(err, ErrFull) {
			t.Errorf("call %d of %v fails: %v, want that it is told", n, m.calls, err)
		}
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	id, _, after, _, _, _ := older(f)
	f.Add(after[page:3*page], uint64(2))
	f.Add([]byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, blocks []byte, base uint64) {
		all := make([]byte, Size)
		copy(all, title(id))
		copy(all[page:], blocks)
		for at := page; at+headSize < len(all) && at < page+len(blocks); at += page { // with sums that are right
			if c, _ := cutBlock(all[at:], id); c.bytes != nil {
				binary.BigEndian.PutUint32(c.bytes, sum(c.bytes[4:]))
			}
		}
		rows, err := read(all, id, base)
		if err != nil && !errors.Is(err, ErrDamaged) || err != nil && rows != nil {
			t.Errorf("read = %d rows, %v", len(rows), err)
		}
	})
}
