package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// foreign is an adapter of somebody else, which keeps no checksums.
type foreign struct{ driver.Backend }

func foreignStore(t *testing.T) (*storage.Store, foreign) {
	t.Helper()
	b := foreign{memory.New()}
	s, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

// Each bit of a document is flipped under an adapter that keeps no checksums: what is read is what was written, or
// an error that names the document and is no verdict.
func TestFlippedBitsOfADocumentAreNeverServedByAnyAdapter(t *testing.T) {
	s, b := foreignStore(t)
	app, err := s.SaveApp(t.Context(), storage.App{ID: "a1", Name: "Shop", Domains: []string{"localhost"},
		Secrets: []storage.AppSecret{{Secret: storage.NewSecret(strings.Repeat("s", 40))}}})
	if err != nil {
		t.Fatal(err)
	}
	good, err := b.Get(t.Context(), "app", app.ID)
	if err != nil || !strings.Contains(string(good.Data), "localhost") {
		t.Fatal(good, err)
	}
	reads := map[string]func(context.Context) error{
		"App":  func(ctx context.Context) error { _, err := s.App(ctx, app.ID); return err },
		"Apps": func(ctx context.Context) error { _, _, err := s.Apps(ctx, "", "", 10); return err },
		"AppsAndUsers": func(ctx context.Context) error {
			_, _, err := s.AppsAndUsers(ctx, []string{app.ID}, nil)
			return err
		},
	}
	served := func(what string, d driver.Doc) {
		t.Helper()
		version, err := b.Put(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		good.Version = version
		for name, read := range reads {
			var row driver.Damaged
			if err := read(t.Context()); !errors.As(err, &row) || !errors.Is(err, storage.ErrUnavailable) || errors.Is(err,
				storage.ErrNotFound) || !strings.Contains(err.Error(), `app "a1"`) {
				t.Fatalf("%s: %s = %v, want an error that names it", what, name, err)
			}
		}
	}
	for at := range good.Data {
		for bit := range 8 {
			d := good
			d.Data = append([]byte{}, good.Data...)
			d.Data[at] ^= 1 << bit
			served("its data", d)
		}
	}
	moved := good
	moved.ExpiresAt = time.Unix(1e10, 0)
	served("its end", moved)
	other := good
	other.Index = append([]string{"also"}, other.Index...)
	served("its index", other)
	if _, err := b.Put(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	got, err := s.App(t.Context(), app.ID)
	if err != nil || got.Domains[0] != "localhost" || got.Secrets[0].Secret.Reveal() != strings.Repeat("s", 40) {
		t.Errorf("in the end: %+v, %v", got, err)
	}
}

// A document that an older version has written has no checksum. It is read, and gets one when it is written.
func TestDocumentWithoutAChecksumGetsOneWhenItIsWritten(t *testing.T) {
	s, b := foreignStore(t)
	const old = `{"name":"k","value":"v","updated_at":"2026-01-02T03:04:05Z"}`
	if _, err := b.Put(t.Context(), driver.Doc{Kind: "setting", ID: "k", Index: []string{"all"},
		Data: []byte(old)}); err != nil {
		t.Fatal(err)
	}
	if value, err := s.Setting(t.Context(), "k"); err != nil || value != "v" {
		t.Fatal(value, err)
	}
	if err := s.Set(t.Context(), "k", "w"); err != nil {
		t.Fatal(err)
	}
	d, err := b.Get(t.Context(), "setting", "k")
	if err != nil || len(d.Data) <= len(old) || strings.TrimRight(string(d.Data),
		" \t\r") != strings.TrimSpace(string(d.Data)) {
		t.Errorf("it is stored as %q, %v", d.Data, err)
	}
	d.Data[2] ^= 1
	if _, err := b.Put(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	var row driver.Damaged
	if _, err := s.Setting(t.Context(), "k"); !errors.As(err, &row) {
		t.Errorf("a flipped bit of it is answered with %v", err)
	}
}
