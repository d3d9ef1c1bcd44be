package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// openStore opens the store in a data folder. Nobody else has it open until Close. It makes a store where there never
// was one, and a master key for it.
func (p program) openStore(ctx context.Context, c *config.Config, f *folder.Folder) (*dataStore, error) {
	keyring := admin.NewKeyring(c, f)
	return p.openBy(ctx, c, f, keyring, keyring.Make)
}

// openBy opens the store with the keys that read returns.
func (p program) openBy(ctx context.Context, c *config.Config, f *folder.Folder, keyring *admin.Keyring,
	read func() ([]storage.MasterKey, string, error)) (*dataStore, error) {
	s, b, err := p.right(ctx, c, f)
	if err != nil {
		return nil, err
	}
	keys, from, err := read()
	if err != nil {
		return nil, err
	}
	h, err := s.openFile(ctx, f.Database(), opening{c, f, keyring, keys, from, p.log, b.of, p.passwords})
	if errors.Is(err, storage.ErrMasterKey) {
		return nil, madeInVain(f, err)
	}
	if err != nil {
		return nil, err
	}
	if h.joined, err = b.settle(ctx, h.store); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// right returns the storage of a configuration, and that the data folder belongs to its store or to none.
func (p program) right(ctx context.Context, c *config.Config, f *folder.Folder) (s Storage, b belonging, err error) {
	if s, err = p.of(c); err != nil {
		return s, b, err
	}
	if b, err = belongingOf(s, c, f); err != nil {
		return s, b, err
	}
	return s, b, b.before(ctx, c)
}

// madeInVain takes a master key away again that was made for a store which another node has made with its own.
func madeInVain(f *folder.Folder, err error) error {
	removed, failed := f.UnmakeKey()
	if failed != nil || removed == "" {
		return errors.Join(err, failed)
	}
	return fmt.Errorf("%w: another node has made the store, and the key that was made here for an empty one is removed "+
		"again; all nodes have the same one: copy the master.key of that node to %s, or set KEYSTILE_MASTER_KEY at all "+
		"of them", err, removed)
}

// openReading opens the store for reading only. Where it has to be written to before it can be
// read, because a change of the master key has begun, it is opened like any other.
func (p program) openReading(ctx context.Context, c *config.Config, f *folder.Folder) (*dataStore, error) {
	keyring := admin.NewKeyring(c, f)
	if s, err := p.of(c); err != nil || s.OpenReadOnly == nil {
		return p.openBy(ctx, c, f, keyring, keyring.Read) // it says why
	}
	s, _, err := p.right(ctx, c, f)
	if err != nil {
		return nil, err
	}
	if s.Copy != nil { // the database is a file there
		if err := f.NeedDatabase(); err != nil {
			return nil, err
		}
	}
	keys, from, err := keyring.Read()
	if err != nil {
		return nil, err
	}
	backend, err := s.OpenReadOnly(ctx, f.Database())
	if err != nil {
		return nil, err
	}
	h, err := newDataStore(ctx, opening{c, f, keyring, keys, from, p.log, nil, p.passwords}, readOnly{backend})
	if errors.Is(err, errReadOnly) {
		return p.openStore(ctx, c, f)
	}
	if err != nil {
		return nil, err
	}
	h.copy = s.copying(backend)
	return h, nil
}

// opening says what a database is opened with.
type opening struct {
	conf    *config.Config
	folder  *folder.Folder
	keyring *admin.Keyring
	keys    []storage.MasterKey
	from    string // where the keys came from
	log     *slog.Logger
	fits    func(context.Context, driver.Backend) error // whether it is the right one, before a store is opened over it

	passwords *passwords.Hasher // of its users
}

func (s Storage) openFile(ctx context.Context, path string, o opening) (*dataStore, error) {
	statements := metrics.NewStatements()
	backend, err := s.open(ctx, o.conf, path, Watch{Log: cmp.Or(o.log, slog.Default()), Observe: statements.Observe})
	if err != nil {
		return nil, err
	}
	if err := o.fits(ctx, backend); err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	h, err := newDataStore(ctx, o, s.named(backend))
	switch {
	case err != nil && len(s.Schemes) > 0:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h.statements = statements
	if s.Gauges != nil {
		h.gauges = s.Gauges(backend)
	}
	h.copy = s.copying(backend)
	// An umask may have taken even the owner's right to write.
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // not every storage has a file there
		return nil, errors.Join(err, backend.Close())
	}
	return h, nil
}

// openTarget is openStore for the admin commands.
func (p program) openTarget(ctx context.Context, c *config.Config, f *folder.Folder) (admin.Target, io.Closer, error) {
	h, err := p.openStore(ctx, c, f)
	if err != nil {
		return admin.Target{}, nil, err
	}
	target := h.target(nil)
	if target.Registry, err = h.registrar(); err != nil {
		return admin.Target{}, nil, errors.Join(err, h.Close())
	}
	return target, h, nil
}

// scratchTarget returns a target over an empty store in memory, for commands that need none.
func scratchTarget(ctx context.Context, c *config.Config) (admin.Target, error) {
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	if err != nil {
		return admin.Target{}, err
	}
	target := admin.Target{Store: store}
	target.Registry, err = registrarOf(c, store, nil)
	return target, err
}

// readTarget is openReading for the admin commands that only read.
func (p program) readTarget(ctx context.Context, c *config.Config, f *folder.Folder) (admin.Target, io.Closer, error) {
	h, err := p.openReading(ctx, c, f)
	if err != nil {
		return admin.Target{}, nil, err
	}
	return h.target(nil), h, nil
}

// openCopy opens a copy of a database with the folder's master key and returns the target over it.
func (p program) openCopy(ctx context.Context, c *config.Config, f *folder.Folder,
	path string) (admin.Target, io.Closer, error) {
	keyring := admin.NewKeyring(c, f)
	keys, from, err := keyring.Read()
	if err != nil {
		return admin.Target{}, nil, err
	}
	s, err := p.of(c)
	if err != nil {
		return admin.Target{}, nil, err
	}
	whichever := func(context.Context, driver.Backend) error { return nil } // the operator has said which
	h, err := s.openFile(ctx, path, opening{c, f, keyring, keys, from, p.log, whichever, p.passwords})
	if err != nil {
		return admin.Target{}, nil, err
	}
	return h.target(nil), h, nil
}
