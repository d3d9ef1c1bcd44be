package bolt

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// spot holds where a key or a value is in the file, and in what pages that are free by now have of it.
type spot struct {
	row  string
	at   []int64
	size int
}

// flip turns a bit round, or back again.
func (s spot) flip(t *testing.T, file *os.File, i, bit int) {
	t.Helper()
	b := make([]byte, 1)
	for _, at := range s.at {
		_, err := file.ReadAt(b, at+int64(i))
		b[0] ^= 1 << bit
		if err == nil {
			_, err = file.WriteAt(b, at+int64(i))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func spots(t *testing.T, s *Store) (all []spot) {
	t.Helper()
	whole, err := os.ReadFile(s.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if string(name) == aboutBucket { // it says what the file is, and is compared with what versions know
				return nil
			}
			return b.ForEach(func(key, value []byte) error {
				row := slices.Concat(key, value) // as they lie in a page
				of := spot{fmt.Sprintf("the key of %s in %s", nameOf(string(name), key), name), nil, len(key)}
				for at := 0; ; {
					n := bytes.Index(whole[at:], row)
					if n < 0 {
						break
					}
					of.at = append(of.at, int64(at+n))
					at += n + 1
				}
				all = append(all, of)
				if len(value) > 0 {
					of.row, of.size = fmt.Sprintf("the value of %s in %s", nameOf(string(name), key), name), len(value)
					of.at = slices.Clone(of.at)
					for i := range of.at {
						of.at[i] += int64(len(key))
					}
					all = append(all, of)
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// flips calls with each bit of a store's rows the other way round, in the file under it.
func flips(t *testing.T, s *Store, skip func(bit int) bool, with func(where string)) {
	t.Helper()
	file, err := os.OpenFile(s.db.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for _, at := range spots(t, s) {
		for i := range at.size {
			for bit := range 8 {
				if n++; skip(n) {
					continue
				}
				at.flip(t, file, i, bit)
				with(fmt.Sprintf("%s, bit %d of byte %d", at.row, bit, i))
				at.flip(t, file, i, bit)
			}
		}
	}
	t.Logf("%d bits of %d rows", n, len(spots(t, s)))
}

func sampled() func(int) bool {
	if testing.Short() {
		return func(n int) bool { return n%23 != 0 }
	}
	return func(int) bool { return false }
}
