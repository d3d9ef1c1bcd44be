package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// kind describes one kind of typed document: the whole of what the typed layer knows
// about it. Secrets are fields tagged json:"-" that are sealed beside the JSON.
type kind[T any] struct {
	name    string
	id      func(T) string
	index   func(T) []string
	expires func(T) time.Time
	version func(*T) *int64
	secrets func(*T) map[string]*Secret
}

// envelope is what a document's Data holds.
type envelope struct {
	Record json.RawMessage   `json:"record"`
	Sealed map[string][]byte `json:"sealed,omitempty"`
}

func (k kind[T]) doc(s *Store, v T) (Doc, error) {
	record, err := json.Marshal(v)
	if err != nil {
		return Doc{}, fmt.Errorf("%w: %s: %w", ErrInvalid, k.name, err)
	}
	d := Doc{Kind: k.name, ID: k.id(v), Version: *k.version(&v)}
	out := envelope{Record: record}
	if k.secrets != nil {
		out.Sealed = map[string][]byte{}
		for field, secret := range k.secrets(&v) {
			if !secret.IsZero() {
				out.Sealed[field] = s.sealer.seal(secret.Reveal(), place(d.Kind, d.ID, field))
			}
		}
	}
	if k.index != nil {
		d.Index = k.index(v)
	}
	if k.expires != nil {
		d.ExpiresAt = k.expires(v)
	}
	d.Data, err = json.Marshal(out)
	return d, err
}

func (k kind[T]) record(s *Store, d Doc) (v T, err error) {
	var in envelope
	if err := json.Unmarshal(d.Data, &in); err != nil {
		return v, fmt.Errorf("%w: %s %q is not readable: %w", ErrUnavailable, d.Kind, d.ID, err)
	}
	if err := json.Unmarshal(in.Record, &v); err != nil {
		return v, fmt.Errorf("%w: %s %q is not readable: %w", ErrUnavailable, d.Kind, d.ID, err)
	}
	*k.version(&v) = d.Version
	if k.secrets == nil {
		return v, nil
	}
	for field, secret := range k.secrets(&v) {
		sealed, there := in.Sealed[field]
		if !there {
			continue
		}
		plain, err := s.sealer.open(sealed, place(d.Kind, d.ID, field))
		if err != nil {
			return v, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		*secret = NewSecret(plain)
	}
	return v, nil
}

func (k kind[T]) get(ctx context.Context, s *Store, id string) (v T, err error) {
	if !named(id) {
		return v, ErrNotFound // nothing can be stored under such an id
	}
	d, err := s.backend.Get(ctx, k.name, id)
	if err != nil {
		return v, trouble("get "+k.name, err)
	}
	return k.record(s, d)
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
	_, err := s.write(ctx, Doc{Kind: k.name, ID: k.id(v), Version: *k.version(&v), Deleted: true})
	return err
}

// list returns one page of records with an entry in span.
func (k kind[T]) list(ctx context.Context, s *Store, span Span, n int) ([]T, string, error) {
	docs, next, err := s.backend.List(ctx, k.name, span, n)
	if err != nil {
		return nil, "", trouble("list "+k.name, err)
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
func (k kind[T]) all(ctx context.Context, s *Store, span Span) ([]T, error) {
	var out []T
	for {
		page, next, err := k.list(ctx, s, span, Page)
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
