package bolt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// Contents counts what is in a file: documents by kind, and tokens, revocations, usage rows
// and audit records under these names.
type Contents map[string]int

// Check reads a file that nobody writes to, from the first page to the last, and reports
// what is in it, or what is wrong with it. It changes nothing. Every page must be in its
// place, every row readable, and every document as its index has it. What it cannot see is
// a text that reads well and is another one than was written: for that keep a checksum.
func Check(path string) (Contents, error) {
	fresh, err := inspect(path, 0)
	if err == nil && fresh {
		err = fmt.Errorf("nothing was ever stored in it")
	}
	if err != nil {
		return nil, explain(path, err)
	}
	found := Contents{}
	if err := check(path, found); err != nil {
		return nil, explain(path, err)
	}
	return found, nil
}

func check(path string, found Contents) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	db, err := open(path, bbolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return checkOpened(db, file, found)
}

// checkOpened is check of an open file; its pages are read from file.
func checkOpened(db *bbolt.DB, file *os.File, found Contents) error {
	return catchFaults(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			pages, err := newPages(file, db.Info().PageSize, uint64(tx.ID()))
			if err == nil {
				err = pages.check()
			}
			if err != nil {
				return err
			}
			var first error
			for err := range tx.Check() { // to its end: it blocks until somebody receives
				if first == nil {
					first = err
				}
			}
			if first != nil {
				return first
			}
			return readAll(tx, found)
		})
	})
}

// readAll decodes every row. A decoder panics at a row that is cut off; the caller recovers.
func readAll(tx *bbolt.Tx, found Contents) error {
	for _, name := range buckets {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("the bucket %s is not there", name)
		}
	}
	for name, read := range map[string]func(key, value []byte) error{
		tokensBucket: func(key, value []byte) error {
			found["tokens"]++
			decodeToken(driver.Key(key), value)
			return nil
		},
		revocationsBucket: func(key, value []byte) error {
			found["revocations"]++
			if r := decodeRevocation(key, value); !bytes.Equal(bucket(tx, feedBucket).Get(appendNumber(nil, r.Seq)), key) {
				return fmt.Errorf("a revocation is not in the feed")
			}
			return nil
		},
		docsBucket: func(key, value []byte) error {
			d := decodeDoc(key, value)
			found[d.Kind]++
			return readDoc(tx, d)
		},
		indexBucket: func(key, _ []byte) error { return readIndex(tx, key) },
		usageBucket: func(_, _ []byte) error { found["usage rows"]++; return nil },
		auditBucket: func(key, value []byte) error {
			found["audit records"]++
			cutNumber(key)
			cutTime(value)
			return nil
		},
	} {
		if err := bucket(tx, name).ForEach(read); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// readDoc looks that a document is as its index has it, and is still JSON if it was.
func readDoc(tx *bbolt.Tx, d driver.Doc) error {
	record, sealed, has := bytes.Cut(d.Data, []byte("\n"))
	if bytes.HasPrefix(record, []byte("{")) && (!json.Valid(record) || has && !json.Valid(sealed)) {
		return fmt.Errorf("%s %q is not readable", d.Kind, d.ID)
	}
	for _, entry := range d.Index {
		want := indexKey(d, entry)
		if got, _ := bucket(tx, indexBucket).Cursor().Seek(want); !bytes.Equal(got, want) {
			return fmt.Errorf("%s %q is not in the index", d.Kind, d.ID)
		}
	}
	return nil
}

// readIndex looks that there is a document behind an index entry.
func readIndex(tx *bbolt.Tx, key []byte) error {
	kind, place, _ := bytes.Cut(key, []byte{0})
	_, id, _ := bytes.Cut(place, []byte(driver.Separator))
	if bucket(tx, docsBucket).Get(join(string(kind), string(id))) == nil {
		return fmt.Errorf("an entry leads to no %s", kind)
	}
	return nil
}
