package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/secret"
)

// carried keeps what a newer version has written into a record. It survives when
// this one reads, changes and writes it: fields of the record and of the objects in it, items
// of lists as long as this version leaves them as they are, and sealed texts as they are sealed.
// Registering a capability again keeps them too: a field that narrows must not be lost by it.
// A document that is made anew has none.
type carried = forward.Fields

// Every record has it, here and in what a record holds: one without would lose what a newer
// version has written.
var _ = []carried{
	Counter{}.carried, Erasure{}.carried, Walk{}.carried, changed{}.carried, epoch{}.carried,
	format{}.carried, probe{}.carried,
}

// Kind describes one kind of typed document to the typed layer. Secrets are fields tagged
// json:"-" that are sealed beside the JSON. A record embeds carried.
//
// Get, Put, List and the like are functions that take a Kind: the linker keeps each exported method of a type that is
// put into an interface, for each kind anew, which was a megabyte and a half.
type Kind[T any] struct {
	Name    string
	ID      func(T) string
	Index   func(T) []string
	Expires func(T) time.Time
	Version func(*T) *int64
	Secrets func(*T) map[string]*secret.Secret
	Clone   func(T) T // nil: it is decoded anew each time
}

// AnyKind is a [Kind] of whatever records.
type AnyKind interface {
	kindName() string
	seals() bool
}

// Kinds are those of this package.
var Kinds = []AnyKind{Counters, epochs, Erasures, formats, probes}

func (k Kind[T]) kindName() string { return k.Name }

// seals reports whether documents of a kind hold sealed texts. Each of them has an index entry: it is found by List.
func (k Kind[T]) seals() bool { return k.Secrets != nil }

// A document's Data is the record's JSON and, if it has secrets, a second line: a JSON
// object of sealed texts by field. Neither holds a newline.
var newline = []byte("\n")

func (k Kind[T]) Doc(s *Store, v T) (driver.Doc, error) {
	record, err := forward.Encode(&v)
	if err != nil {
		return driver.Doc{}, fmt.Errorf("%w: %s: %w", ErrInvalid, k.Name, err)
	}
	d := driver.Doc{Kind: k.Name, ID: k.ID(v), Version: *k.Version(&v)}
	d.Data = record
	line, err := k.seal(s, d, &v)
	if err != nil {
		return driver.Doc{}, err
	}
	if line != nil {
		d.Data = bytes.Join([][]byte{record, line}, newline)
	}
	if k.Index != nil {
		d.Index = k.Index(v)
	}
	if k.Expires != nil {
		d.ExpiresAt = k.Expires(v)
	}
	return d, nil
}

// seal returns the second line of a document, nil if it has none.
func (k Kind[T]) seal(s *Store, d driver.Doc, v *T) ([]byte, error) {
	sealed := map[string][]byte{}
	if kept := forward.Sealed(v); kept != "" {
		if err := json.Unmarshal([]byte(kept), &sealed); err != nil {
			return nil, err
		}
	} else if k.Secrets == nil {
		return nil, nil
	}
	for field, text := range k.known(v) {
		delete(sealed, field)
		if !text.IsZero() {
			sealed[field] = s.sealer.Load().seal(text.Reveal(), place(d.Kind, d.ID, field))
		}
	}
	return json.Marshal(sealed)
}

// known returns the secrets of a record.
func (k Kind[T]) known(v *T) map[string]*secret.Secret {
	if k.Secrets == nil {
		return nil
	}
	return k.Secrets(v)
}

// Docs is doc for several records that go into one Put.
func Docs[T any](s *Store, k Kind[T], all ...T) ([]driver.Doc, error) {
	docs := make([]driver.Doc, 0, len(all)+2)
	for _, v := range all {
		d, err := k.Doc(s, v)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (k Kind[T]) Record(s *Store, d driver.Doc) (v T, err error) {
	record, line, hasSecrets := bytes.Cut(d.Data, newline)
	if v, err = forward.Decode[T](record); err != nil {
		return v, Unreadable(d, err)
	}
	*k.Version(&v) = d.Version
	if !hasSecrets {
		return v, nil
	}
	var sealed map[string][]byte
	if err := json.Unmarshal(line, &sealed); err != nil {
		return v, Unreadable(d, err)
	}
	for field, text := range k.known(&v) {
		if sealed[field] == nil {
			continue
		}
		plain, err := s.sealer.Load().open(sealed[field], place(d.Kind, d.ID, field))
		if err != nil {
			return v, Unreadable(d, err)
		}
		*text = secret.New(plain)
		delete(sealed, field)
	}
	if len(sealed) > 0 { // a newer version's: kept as they are sealed
		text, err := json.Marshal(sealed)
		if err != nil {
			return v, Unreadable(d, err)
		}
		forward.KeepSealed(&v, string(text))
	}
	return v, nil
}

func Unreadable(d driver.Doc, err error) error {
	return fmt.Errorf("%w: %s %q is not readable: %w", ErrUnavailable, d.Kind, d.ID, err)
}

func Get[T any](ctx context.Context, s *Store, k Kind[T], id string) (v T, err error) {
	if !driver.ValidName(id) {
		return v, ErrNotFound // nothing can be stored under such an id
	}
	d, err := s.backend.Get(ctx, k.Name, id)
	if err != nil {
		s.forget(k.Name, id)
		return v, Unavailable("get "+k.Name, err)
	}
	return k.remembered(s, d)
}

// Find is Get of a record that may not be there: the zero one is returned then.
func Find[T any](ctx context.Context, s *Store, k Kind[T], id string) (v T, err error) {
	if v, err = Get(ctx, s, k, id); errors.Is(err, ErrNotFound) {
		err = nil
	}
	return v, err
}

// remembered is record for a document that has been decoded before, perhaps.
func (k Kind[T]) remembered(s *Store, d driver.Doc) (v T, err error) {
	if k.Clone == nil {
		return k.Record(s, d)
	}
	known := k.memo(s)
	if v, ok := known.Get(d.ID, d.Version); ok {
		return v, nil
	}
	if v, err = k.Record(s, d); err == nil {
		known.Put(d.ID, d.Version, v)
	}
	return v, err
}

// memo returns the store's memo of a kind that has one.
func (k Kind[T]) memo(s *Store) *cache.Versioned[T] {
	r := s.remembered(k.Name)
	if r == nil {
		records := cache.NewVersioned(k.Clone)
		s.memos.LoadOrStore(k.Name, &remembered{records, records.Forget, records.ForgetAll})
		r = s.remembered(k.Name)
	}
	return r.records.(*cache.Versioned[T])
}

// Put writes one record and returns it with its new version.
func Put[T any](ctx context.Context, s *Store, k Kind[T], v T) (T, error) {
	d, err := k.Doc(s, v)
	if err != nil {
		return v, err
	}
	version, err := Write(ctx, s, d)
	if err != nil {
		return v, err
	}
	*k.Version(&v) = version
	return v, nil
}

func Remove[T any](ctx context.Context, s *Store, k Kind[T], v T) error {
	_, err := Write(ctx, s, driver.Doc{Kind: k.Name, ID: k.ID(v), Version: *k.Version(&v), Deleted: true})
	return err
}

// List returns one page of records with an entry in span.
func List[T any](ctx context.Context, s *Store, k Kind[T], span driver.Span, n int) ([]T, string, error) {
	docs, next, err := s.backend.List(ctx, k.Name, span, n)
	if err != nil {
		return nil, "", Unavailable("list "+k.Name, err)
	}
	out := make([]T, 0, len(docs))
	for _, d := range docs {
		v, err := k.Record(s, d)
		if err != nil {
			return nil, "", err
		}
		out = append(out, v)
	}
	return out, next, nil
}

// All walks every page of a span.
func All[T any](ctx context.Context, s *Store, k Kind[T], span driver.Span) ([]T, error) {
	var out []T
	for {
		page, next, err := List(ctx, s, k, span, driver.Page)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if next == "" {
			return out, nil
		}
		span.From = next
	}
}
