package admin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// safe is an office whose master key is in a file, and whose backend can die.
type safe struct {
	*office
	backend *dying
	conf    *config.Config
	id      string // of an application
	secret  string // and what has to be readable whatever happens
}

func newSafe(t *testing.T, served bool) *safe {
	t.Helper()
	s := &safe{office: newOffice(t), backend: &dying{Backend: memory.New(), left: -1}, conf: new(config.Config)}
	if err := os.WriteFile(s.keyFile(), []byte(storage.NewMasterKey().Text()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.id, s.secret = s.app()
	for range 2 { // so that a change has more than one write
		s.app()
	}
	if served {
		s.serve()
	}
	return s
}

func (s *safe) keyFile() string { return filepath.Join(s.data, "master.key") }

// start opens the store as a start of the service does: with the keys that are in the file.
func (s *safe) start() {
	s.t.Helper()
	f, err := folder.Find(s.data)
	if err != nil {
		s.t.Fatal(err)
	}
	s.target.Keys = NewKeyring(s.conf, f)
	keys, _, err := s.target.Keys.Read()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.target.Store, err = storage.Open(s.t.Context(), s.backend, keys...); err != nil {
		s.t.Fatal(err)
	}
}

// wantReadable starts anew and reads what was sealed.
func (s *safe) wantReadable(keys int) {
	s.t.Helper()
	s.start()
	app, err := s.target.Store.App(s.t.Context(), s.id)
	if err != nil || !app.AppKey().Equal(s.secret) {
		s.t.Errorf("the application is %+v, %v", app, err)
	}
	if kept, _, err := s.target.Keys.Read(); err != nil || len(kept) != keys && keys > 0 {
		s.t.Errorf("the key file holds %d keys, %v; want %d", len(kept), err, keys)
	}
}

func (s *safe) firstStored() storage.MasterKey {
	s.t.Helper()
	keys, _, err := s.target.Keys.Read()
	if err != nil {
		s.t.Fatal(err)
	}
	return keys[0]
}

func (s *safe) firstKey() string { return s.firstStored().ID() }

// dying fails at its nth Put and ever after, before the write or right behind it.
type dying struct {
	driver.Backend
	left   int // below 0: never
	behind bool
}

func (d *dying) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	switch {
	case d.left == 0:
		return 0, errLocked
	case d.left == 1:
		d.left = 0
		if d.behind {
			_, err = d.Backend.Put(ctx, docs...)
		}
		return 0, errors.Join(errLocked, err)
	case d.left > 0:
		d.left--
	}
	return d.Backend.Put(ctx, docs...)
}
