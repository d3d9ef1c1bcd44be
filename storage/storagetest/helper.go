package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
)

// want ends the test unless a call answered as it must: with this verdict, or with nil.
func want(t testing.TB, call string, got, verdict error) {
	t.Helper()
	if !errors.Is(got, verdict) {
		t.Fatalf("%s = %v, want %v", call, got, verdict)
	}
}

// at is a moment some minutes after a noon that no one's clock shows.
func at(minutes int) time.Time {
	return time.Date(2031, time.July, 1, 12, minutes, 0, 123456789, time.UTC)
}

// abroad is the same moment on a clock elsewhere.
func abroad(moment time.Time) time.Time { return moment.In(time.FixedZone("UTC+8", 8*60*60)) }

// same reports whether a time came back as the contract requires.
func same(got, put time.Time) bool {
	return got.Equal(put) && got.Location() == time.UTC && got.IsZero() == put.IsZero()
}

// token makes a token with a key of its own. Grant, application and user bear the name
// of the family.
func token(family string) driver.Token {
	return driver.Token{
		Key:       handle.KeyOf(handle.New(handle.RefreshPrefix, at(0))),
		Kind:      driver.KindRefresh,
		Grant:     "grant " + family,
		GrantedAt: at(0),
		AppID:     "app " + family,
		UserID:    "user " + family,
		IssuedAt:  at(0),
		ExpiresAt: at(60),
	}
}

func issue(t testing.TB, b driver.Backend, tokens ...driver.Token) {
	t.Helper()
	want(t, "Issue(tokens)", b.Issue(t.Context(), tokens...), nil)
}

func read(t testing.TB, b driver.Backend, key driver.Key) driver.Token {
	t.Helper()
	got, err := b.Token(t.Context(), key)
	want(t, "Token(key)", err, nil)
	return got
}

// absent checks that no token has these keys.
func absent(t testing.TB, b driver.Backend, tokens ...driver.Token) {
	t.Helper()
	for _, x := range tokens {
		_, err := b.Token(t.Context(), x.Key)
		want(t, "Token(key of what was refused)", err, driver.ErrNotFound)
	}
}

func revoke(t testing.TB, b driver.Backend, rs ...driver.Revocation) {
	t.Helper()
	want(t, "Revoke(revocations)", b.Revoke(t.Context(), rs...), nil)
}

// feed reads all revocations behind a Seq.
func feed(t testing.TB, b driver.Backend, after uint64) []driver.Revocation {
	t.Helper()
	rs, err := b.Revocations(t.Context(), after, driver.Page)
	want(t, "Revocations(after)", err, nil)
	return rs
}

func doc(id string, entries ...string) driver.Doc {
	return driver.Doc{Kind: "thing", ID: id, Index: entries, Data: []byte("data of " + id)}
}

func put(t testing.TB, b driver.Backend, docs ...driver.Doc) int64 {
	t.Helper()
	version, err := b.Put(t.Context(), docs...)
	want(t, "Put(documents)", err, nil)
	return version
}

func get(t testing.TB, b driver.Backend, id string) driver.Doc {
	t.Helper()
	d, err := b.Get(t.Context(), "thing", id)
	want(t, fmt.Sprintf("Get(%q)", id), err, nil)
	return d
}

// gone checks that no document has these ids.
func gone(t testing.TB, b driver.Backend, ids ...string) {
	t.Helper()
	for _, id := range ids {
		_, err := b.Get(t.Context(), "thing", id)
		want(t, fmt.Sprintf("Get(%q)", id), err, driver.ErrNotFound)
	}
}

// removal is the Put that removes a stored document.
func removal(d driver.Doc) driver.Doc {
	return driver.Doc{Kind: d.Kind, ID: d.ID, Version: d.Version, Deleted: true}
}

// lists checks that one page of a span holds these documents, in this order.
func lists(t testing.TB, b driver.Backend, span driver.Span, ids ...string) {
	t.Helper()
	docs, next, err := b.List(t.Context(), "thing", span, driver.Page)
	want(t, fmt.Sprintf("List(%q)", span), err, nil)
	if got := idsOf(docs); !slices.Equal(got, ids) || next != "" {
		t.Fatalf("List(%q) = %q, next %q, want %q and no next", span, got, next, ids)
	}
}

func idsOf(docs []driver.Doc) []string {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids
}

func sweep(t testing.TB, b driver.Backend, moment time.Time, removed int) {
	t.Helper()
	got, err := b.Sweep(t.Context(), moment, driver.Page)
	want(t, "Sweep(at)", err, nil)
	if got != removed {
		t.Fatalf("Sweep(%v) removed %d, want %d", moment, got, removed)
	}
}

// verdict reports whether an error is one that callers act on.
func verdict(err error) bool {
	return slices.ContainsFunc([]error{
		driver.ErrNotFound, driver.ErrExists, driver.ErrConflict, driver.ErrSpent, driver.ErrRevoked, driver.ErrInvalid,
	}, func(v error) bool { return errors.Is(err, v) })
}
