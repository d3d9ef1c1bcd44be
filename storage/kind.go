package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/forward"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it, here and in what a record holds: one without would lose what a newer
// version has written.
var _ = []carried{
	App{}.carried, fence{}.carried, closedApp{}.carried, Capability{}.carried, toolset{}.carried,
	changed{}.carried, Checkpoint{}.carried, timeMark{}.carried, Consent{}.carried, Delivery{}.carried, epoch{}.carried, format{}.carried,
	Factors{}.carried, hmacKey{}.carried, Invitation{}.carried, SigningKey{}.carried, keySet{}.carried, Login{}.carried, Mail{}.carried,
	memberName{}.carried, OpenID{}.carried, Order{}.carried, spent{}.carried, probe{}.carried, erasure{}.carried,
	Session{}.carried, Setting{}.carried, skeleton{}.carried, skeletonsMade{}.carried,
	Ticket{}.carried, usageMark{}.carried, User{}.carried, counter{}.carried, walk{}.carried,
}

// kind describes one kind of typed document to the typed layer. Secrets are fields tagged
// json:"-" that are sealed beside the JSON. A record embeds carried.
type kind[T any] struct {
	name    string
	id      func(T) string
	index   func(T) []string
	expires func(T) time.Time
	version func(*T) *int64
	secrets func(*T) map[string]*Secret
	memo    func(*Store) *memo[T] // nil: decoded anew each time
}

// A document's Data is the record's JSON and, if it has secrets, a second line: a JSON
// object of sealed texts by field. Neither holds a newline.
var newline = []byte("\n")

func (k kind[T]) doc(s *Store, v T) (driver.Doc, error) {
	record, err := forward.Encode(&v)
	if err != nil {
		return driver.Doc{}, fmt.Errorf("%w: %s: %w", ErrInvalid, k.name, err)
	}
	d := driver.Doc{Kind: k.name, ID: k.id(v), Version: *k.version(&v)}
	d.Data = record
	line, err := k.seal(s, d, &v)
	if err != nil {
		return driver.Doc{}, err
	}
	if line != nil {
		d.Data = bytes.Join([][]byte{record, line}, newline)
	}
	if k.index != nil {
		d.Index = k.index(v)
	}
	if k.expires != nil {
		d.ExpiresAt = k.expires(v)
	}
	return d, nil
}

// seal returns the second line of a document, nil if it has none.
func (k kind[T]) seal(s *Store, d driver.Doc, v *T) ([]byte, error) {
	sealed := map[string][]byte{}
	if kept := forward.Sealed(v); kept != "" {
		if err := json.Unmarshal([]byte(kept), &sealed); err != nil {
			return nil, err
		}
	} else if k.secrets == nil {
		return nil, nil
	}
	for field, secret := range k.known(v) {
		delete(sealed, field)
		if !secret.IsZero() {
			sealed[field] = s.sealer.Load().seal(secret.Reveal(), place(d.Kind, d.ID, field))
		}
	}
	return json.Marshal(sealed)
}

// known returns the secrets of a record.
func (k kind[T]) known(v *T) map[string]*Secret {
	if k.secrets == nil {
		return nil
	}
	return k.secrets(v)
}

// docs is doc for several records that go into one Put.
func (k kind[T]) docs(s *Store, all ...T) ([]driver.Doc, error) {
	docs := make([]driver.Doc, 0, len(all)+2)
	for _, v := range all {
		d, err := k.doc(s, v)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (k kind[T]) record(s *Store, d driver.Doc) (v T, err error) {
	record, line, hasSecrets := bytes.Cut(d.Data, newline)
	if v, err = forward.Decode[T](record); err != nil {
		return v, unreadable(d, err)
	}
	*k.version(&v) = d.Version
	if !hasSecrets {
		return v, nil
	}
	var sealed map[string][]byte
	if err := json.Unmarshal(line, &sealed); err != nil {
		return v, unreadable(d, err)
	}
	for field, secret := range k.known(&v) {
		if sealed[field] == nil {
			continue
		}
		plain, err := s.sealer.Load().open(sealed[field], place(d.Kind, d.ID, field))
		if err != nil {
			return v, unreadable(d, err)
		}
		*secret = NewSecret(plain)
		delete(sealed, field)
	}
	if len(sealed) > 0 { // a newer version's: kept as they are sealed
		text, err := json.Marshal(sealed)
		if err != nil {
			return v, unreadable(d, err)
		}
		forward.KeepSealed(&v, string(text))
	}
	return v, nil
}

func unreadable(d driver.Doc, err error) error {
	return fmt.Errorf("%w: %s %q is not readable: %w", ErrUnavailable, d.Kind, d.ID, err)
}

func (k kind[T]) get(ctx context.Context, s *Store, id string) (v T, err error) {
	if !driver.ValidName(id) {
		return v, ErrNotFound // nothing can be stored under such an id
	}
	d, err := s.backend.Get(ctx, k.name, id)
	if err != nil {
		return v, unavailable("get "+k.name, err)
	}
	return k.remembered(s, d)
}

// remembered is record for a document that has been decoded before, perhaps.
func (k kind[T]) remembered(s *Store, d driver.Doc) (v T, err error) {
	if k.memo == nil {
		return k.record(s, d)
	}
	known := k.memo(s)
	if v, ok := known.get(d.ID, d.Version); ok {
		return v, nil
	}
	if v, err = k.record(s, d); err == nil {
		known.put(d.ID, d.Version, v)
	}
	return v, err
}

// put writes one record and returns it with its new version.
func (k kind[T]) put(ctx context.Context, s *Store, v T) (T, error) {
	d, err := k.doc(s, v)
	if err != nil {
		return v, err
	}
	version, err := s.write(ctx, d)
	if err != nil {
		return v, err
	}
	*k.version(&v) = version
	return v, nil
}

func (k kind[T]) remove(ctx context.Context, s *Store, v T) error {
	_, err := s.write(ctx, driver.Doc{Kind: k.name, ID: k.id(v), Version: *k.version(&v), Deleted: true})
	return err
}

// list returns one page of records with an entry in span.
func (k kind[T]) list(ctx context.Context, s *Store, span driver.Span, n int) ([]T, string, error) {
	docs, next, err := s.backend.List(ctx, k.name, span, n)
	if err != nil {
		return nil, "", unavailable("list "+k.name, err)
	}
	out := make([]T, 0, len(docs))
	for _, d := range docs {
		v, err := k.record(s, d)
		if err != nil {
			return nil, "", err
		}
		out = append(out, v)
	}
	return out, next, nil
}

// all walks every page of a span.
func (k kind[T]) all(ctx context.Context, s *Store, span driver.Span) ([]T, error) {
	var out []T
	for {
		page, next, err := k.list(ctx, s, span, driver.Page)
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
