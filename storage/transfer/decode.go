package transfer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/storage/driver"
)

// Token reads a row of Tokens.
func (r Row) Token() (driver.Token, error) {
	in := reader{rest: r.Value}
	key, err := TokenKey(r.Key)
	t := driver.Token{Key: key}
	times, texts := tokenParts(&t)
	for _, at := range times {
		*at = in.time()
	}
	for _, text := range texts {
		*text = in.text()
	}
	return t, in.end(Tokens, err)
}

// Revocation reads a row of Revocations.
func (r Row) Revocation() (driver.Revocation, error) {
	in := reader{rest: r.Value}
	kind, id, err := RevocationKey(r.Key)
	out := driver.Revocation{Kind: kind, ID: id, Seq: uint64(in.amount()), Before: in.time(), Until: in.time()}
	return out, in.end(Revocations, err)
}

// Usage reads a row of Usage, which is of a day or of an hour.
func (r Row) Usage() (c driver.Count, daily bool, err error) {
	in := reader{rest: r.Value}
	c.AppID, daily, c.At, c.Product, err = UsageKey(r.Key)
	c.Calls, c.Errors = in.amount(), in.amount()
	return c, daily, in.end(Usage, err)
}

// Batch reads a row of Batches.
func (r Row) Batch() (driver.Batch, error) {
	in := reader{rest: r.Value}
	node, err := BatchKey(r.Key)
	return driver.Batch{Node: node, Seq: in.number()}, in.end(Batches, err)
}

// Record reads a row of Audit.
func (r Row) Record() (driver.Record, error) {
	in := reader{rest: r.Value}
	seq, err := RecordKey(r.Key)
	return driver.Record{Seq: seq, At: in.time(), Data: in.data()}, in.end(Audit, err)
}

// Doc reads a row of Documents.
func (r Row) Doc() (driver.Doc, error) {
	in := reader{rest: r.Value}
	kind, id, err := DocKey(r.Key)
	d := driver.Doc{Kind: kind, ID: id, Version: in.amount(), ExpiresAt: in.time()}
	entries := in.length()
	for range min(entries, driver.MaxIndex) {
		d.Index = append(d.Index, in.text())
	}
	in.fail(entries > driver.MaxIndex || d.Version == 0)
	d.Data = in.data()
	return d, in.end(Documents, err)
}

// Counter reads a row of Counters.
func (r Row) Counter() (name string, last uint64, err error) {
	in := reader{rest: r.Value}
	name, err = CounterKey(r.Key)
	last = uint64(in.amount())
	return name, last, in.end(Counters, err)
}

// TokenKey reads a Key of Tokens.
func TokenKey(key []byte) (k driver.Key, err error) {
	in := reader{rest: key}
	copy(k[:], in.cut(len(k)))
	return k, in.end(Tokens, nil)
}

// RevocationKey reads a Key of Revocations.
func RevocationKey(key []byte) (kind, id string, err error) {
	in := reader{rest: key}
	return in.name(), in.name(), in.end(Revocations, nil)
}

// UsageKey reads a Key of Usage.
func UsageKey(key []byte) (app string, daily bool, at time.Time, product string, err error) {
	in := reader{rest: key}
	app = in.name()
	span := in.cut(1)
	in.fail(len(span) == 1 && span[0] > 1)
	daily = len(span) == 1 && span[0] == 1
	at, product = in.time(), in.name()
	return app, daily, at, product, in.end(Usage, nil)
}

// BatchKey reads a Key of Batches.
func BatchKey(key []byte) (node string, err error) {
	in := reader{rest: key}
	return in.name(), in.end(Batches, nil)
}

// RecordKey reads a Key of Audit.
func RecordKey(key []byte) (seq uint64, err error) {
	in := reader{rest: key}
	return uint64(in.amount()), in.end(Audit, nil)
}

// DocKey reads a Key of Documents.
func DocKey(key []byte) (kind, id string, err error) {
	in := reader{rest: key}
	kind, id = in.name(), in.name()
	in.fail(!driver.ValidName(kind) || !driver.ValidName(id))
	return kind, id, in.end(Documents, nil)
}

// CounterKey reads a Key of Counters.
func CounterKey(key []byte) (name string, err error) {
	in := reader{rest: key}
	name = in.name()
	in.fail(!slices.Contains(CounterNames(), name))
	return name, in.end(Counters, nil)
}

// reader reads what the functions of encode.go have written, and nothing else: two spellings of
// one record would be two records to a checksum.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) fail(bad bool) { r.bad = r.bad || bad }

// end returns what was wrong with a row, or with its key.
func (r *reader) end(table Table, err error) error {
	if err == nil && (r.bad || len(r.rest) > 0) {
		err = fmt.Errorf("%w: this is no row of the table %s", driver.ErrInvalid, table)
	}
	return err
}

func (r *reader) cut(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return nil
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) number() uint64 {
	if b := r.cut(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// amount is a number that a signed column holds.
func (r *reader) amount() int64 {
	n := r.number()
	r.fail(n > math.MaxInt64)
	return int64(n)
}

func (r *reader) time() time.Time {
	seconds, nanoseconds := int64(r.number()^1<<63), r.cut(4)
	if r.bad {
		return time.Time{}
	}
	n := binary.BigEndian.Uint32(nanoseconds)
	t := time.Unix(seconds, int64(n)).UTC()
	r.fail(n > 999_999_999 || seconds < firstSecond || seconds > lastSecond)
	return t
}

// The seconds of the years 1 to 9999.
const firstSecond, lastSecond = -62135596800, 253402300799

func (r *reader) length() int {
	n, size := binary.Uvarint(r.rest)
	r.fail(size <= 0 || size > 1 && n>>(7*(size-1)) == 0 || n > math.MaxInt32)
	if r.bad {
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) text() string {
	text := string(r.cut(r.length()))
	r.fail(!utf8.ValidString(text))
	return text
}

// name is a text of a key.
func (r *reader) name() string {
	name, rest, ended := bytes.Cut(r.rest, []byte{0})
	r.fail(!ended || !utf8.Valid(name))
	r.rest = rest
	return string(name)
}

// data is all that is left.
func (r *reader) data() []byte { return bytes.Clone(r.cut(len(r.rest))) }
