package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// belonging judges whether a store is the one that a data folder belongs to. Opening a store makes an empty one where
// there is none, and a service that begins anew by itself refuses every token, on which clients drop their users.
type belonging struct {
	storage Storage
	address string // of the store, as it may be shown; "": it is in the folder
	folder  *folder.Folder
	known   folder.Belonging
	left    []string // what only a service leaves whose store was there
}

// belongingOf reads what a data folder says of the store that it belongs to.
func belongingOf(s Storage, c *config.Config, f *folder.Folder) (b belonging, err error) {
	b = belonging{storage: s, folder: f, left: f.Companions()}
	if len(s.Schemes) > 0 {
		b.address = shown(c.StorageURL.Reveal())
		if has, err := f.HasDatabase(); err == nil && has && len(b.left) > 0 {
			b.left = append(b.left, "keystile.db")
		}
	}
	b.known, err = f.Belongs()
	return b, err
}

// before looks where a database has to be before it is opened, and with that made: a copy that is to be put in its
// place finds it as it was.
func (b belonging) before(ctx context.Context, c *config.Config) error {
	switch {
	case len(b.left) == 0:
		return nil
	case len(b.storage.Schemes) == 0:
		if b.storage.Copy == nil { // it may have its database anywhere
			return nil
		}
		has, err := b.folder.HasDatabase()
		if err == nil && !has {
			err = b.gone()
		}
		return err
	case b.storage.ReadAt == nil:
		return nil
	}
	quiet := Watch{Log: slog.New(slog.DiscardHandler), Observe: unobserved}
	backend, err := b.storage.ReadAt(ctx, c.StorageURL.Reveal(), quiet)
	if errors.Is(err, driver.ErrNotFound) {
		return b.gone()
	}
	if err != nil {
		return nil // opening it says what is wrong
	}
	return errors.Join(b.of(ctx, backend), backend.Close())
}

// of judges an open database, over which no store was opened yet.
func (b belonging) of(ctx context.Context, backend driver.Backend) error {
	if len(b.left) == 0 {
		return nil
	}
	found, err := storage.IdentityOf(ctx, backend)
	switch {
	case err != nil:
		return err
	case !found.Begun:
		return b.gone()
	case found.ID != "" && b.known.Store != "" && found.ID != b.known.Store:
		return b.another(found.ID)
	}
	return nil
}

// settle writes down that the folder belongs to a store, and reports whether it did not before.
func (b belonging) settle(ctx context.Context, store *storage.Store) (fresh bool, err error) {
	id, err := store.Identify(ctx, b.known.Store)
	if err != nil || id == b.known.Store {
		return false, err
	}
	return true, b.folder.BelongTo(folder.Belonging{Store: id, Since: time.Now().UTC().Truncate(time.Second)})
}

// at says where the store has to be.
func (b belonging) at() string {
	if b.address != "" {
		return b.address
	}
	return b.folder.Database()
}

func (b belonging) since() string {
	if b.known.Since.IsZero() {
		return ""
	}
	return " since " + b.known.Since.Format(time.DateOnly)
}

// gone is the error where there is no store, and was one.
func (b belonging) gone() error {
	back := fmt.Sprintf("put a backup in its place (keystile restore FILE --data %s), "+
		"or name with --storage-url the address of the database where the store is", b.folder.Path())
	is := "there is no database with anything in it at " + b.at()
	if b.address != "" {
		back = "name the right database with --storage-url, or bring its dump back"
		is = "nothing is in the database " + b.at()
		if b.left[len(b.left)-1] == "keystile.db" {
			back += ", or copy what is in the folder " +
				fmt.Sprintf("(keystile storage copy --from bolt:%s --to ADDRESS)", b.folder.Path())
		}
	}
	return fmt.Errorf("%w: %s, but the data folder %s has belonged to a store%s: %s is there. %s; "+
		"if the store is gone for good, and an empty one is to take its place: %s",
		admin.ErrGone, is, b.folder.Path(), b.since(), strings.Join(b.left, ", "), capital(back), b.forget())
}

// another is the error where there is the store of another service.
func (b belonging) another(id string) error {
	which := "put the right database there, or name the folder that belongs to it with --data"
	if b.address != "" {
		which = "name the right database with --storage-url, or the folder that belongs to this one with --data"
	}
	return fmt.Errorf("%w: the store at %s is %s, and the data folder %s has belonged to %s%s. %s; "+
		"if that one is gone for good, and this one takes its place: %s",
		admin.ErrGone, b.at(), id, b.folder.Path(), b.known.Store, b.since(), capital(which), b.forget())
}

func (b belonging) forget() string { return "keystile storage forget --data " + b.folder.Path() }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// belongs reports whether the store of a configuration is the one that its data folder belongs to, and says what it
// found otherwise.
func (p program) belongs(ctx context.Context, c *config.Config, f *folder.Folder) error {
	s, err := p.of(c)
	if err != nil {
		return err
	}
	b, err := belongingOf(s, c, f)
	if err != nil {
		return err
	}
	if err := b.before(ctx, c); err != nil || len(b.left) == 0 || s.OpenReadOnly == nil {
		return err
	}
	backend, err := s.OpenReadOnly(ctx, f.Database())
	if err != nil {
		return err
	}
	return errors.Join(b.of(ctx, backend), backend.Close())
}
