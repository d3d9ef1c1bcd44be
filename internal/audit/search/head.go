package search

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
)

// head says what the index holds. A change of the index writes it in the same Put as its last part,
// so of two indexers at once one wins.
type head struct {
	version int64
	wipe    bool     // all else is to be removed; nothing of it counts
	key     [16]byte // of the hashes of terms: what strangers send, such as request ids, must not fill one part
	cursor  uint64   // the last record that was indexed; 0: none
	mark    [8]byte  // a hash of that record, to notice that the trail is another one

	groups   []recordRange // ascending
	segments []recordRange // behind them
}

const headFormat = 1

func newHead() (h head) {
	rand.Read(h.key[:])
	return h
}

func (h head) data() []byte {
	wipe := byte(0)
	if h.wipe {
		wipe = 1
	}
	b := append([]byte{headFormat, wipe}, h.key[:]...)
	b = append(binary.AppendUvarint(b, h.cursor), h.mark[:]...)
	return appendRanges(appendRanges(b, h.groups), h.segments)
}

func (h head) doc() driver.Doc {
	return driver.Doc{ID: headID, Version: h.version, Index: []string{headEntry}, Data: h.data()}
}

func readHead(d driver.Doc) (head, error) {
	h := head{version: d.Version}
	if len(d.Data) < 2 {
		return h, errDamaged
	}
	if d.Data[0] > headFormat {
		return h, driver.Newer("the index of its audit trail has a form", "of a later version")
	}
	h.wipe = d.Data[1] != 0
	r := reader{rest: d.Data[2:]}
	copy(h.key[:], r.bytes(uint64(len(h.key))))
	h.cursor = r.uint()
	copy(h.mark[:], r.bytes(uint64(len(h.mark))))
	h.groups = r.ranges()
	h.segments = r.ranges()
	if r.bad {
		return h, errDamaged
	}
	if h.wipe {
		return head{version: d.Version, wipe: true}, nil
	}
	return h, nil
}

// loadHead reads the head; version 0: there is none.
func loadHead(ctx context.Context, store Reader) (head, error) {
	docs, _, err := store.TrailIndex(ctx, driver.Is(headEntry), 1)
	if err != nil || len(docs) == 0 {
		return head{}, err
	}
	return readHead(docs[0])
}

// loadIndex reads the head and all segments, as one view.
func loadIndex(ctx context.Context, store Reader) (h head, segments []block, docs []driver.Doc, err error) {
	docs, next, err := store.TrailIndex(ctx, segmentSpan, driver.Page)
	if err != nil || len(docs) == 0 || docs[0].ID != headID {
		return head{}, nil, nil, err // what is there without a head is left of what was removed
	}
	if h, err = readHead(docs[0]); err != nil || h.wipe {
		return h, nil, nil, err
	}
	docs = docs[1:]
	if next != "" || len(docs) != len(h.segments) {
		return h, nil, nil, fmt.Errorf("%w: it has %d segments, not %d", errDamaged, len(docs), len(h.segments))
	}
	for _, d := range docs {
		b, err := readBlock(d.Data)
		if err != nil {
			return h, nil, nil, err
		}
		segments = append(segments, b)
	}
	return h, segments, docs, nil
}

func markOf(r driver.Record) (mark [8]byte) {
	sum := sha256.Sum256(r.Data)
	copy(mark[:], sum[:])
	return mark
}

// foreign reports whether a record is not the one that the head names as the last indexed.
func (h head) foreign(r driver.Record) bool { return r.Seq == h.cursor && markOf(r) != h.mark }
