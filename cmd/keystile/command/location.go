package command

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/redact"
	"github.com/keystile/keystile/storage/driver"
)

// storages returns every storage whose databases this program can open: its own, the others it was
// given, and bolt, which every program has.
func (p program) storages() []Storage {
	all := append([]Storage{p.storage}, p.storage.Others...)
	if !slices.ContainsFunc(all, func(s Storage) bool { return s.name() == "bolt" }) {
		all = append(all, Bolt())
	}
	return all
}

// At returns the storage that an address belongs to; false if there is none.
func (p program) at(address string) (Storage, bool) {
	scheme, _, found := strings.Cut(address, ":")
	for _, s := range p.storages() {
		if found && (slices.Contains(s.Schemes, scheme) || len(s.Schemes) == 0 && s.name() == scheme) {
			return s, true
		}
	}
	return Storage{}, false
}

// location reads an address: NAME:DIR for a storage in data folders, and whatever a storage with
// Schemes of its own calls one.
func (p program) location(address string) (admin.Location, error) {
	s, found := p.at(address)
	if !found {
		return admin.Location{}, cli.Usage("%q is no address of a database: give %s", redact.Text(address),
			strings.Join(p.addresses(), " or "))
	}
	if len(s.Schemes) > 0 {
		return admin.Location{Address: shown(address), Open: func(ctx context.Context, _ string) (driver.Backend, error) {
			return s.OpenAt(ctx, address, Watch{Log: slog.Default(), Observe: unobserved})
		}}, nil
	}
	_, path, _ := strings.Cut(address, ":")
	if path == "" {
		return admin.Location{}, cli.Usage("%q names no data folder: give %s:DIR", address, s.name())
	}
	l := admin.Location{Address: address, Folder: path, Copies: s.Copy != nil, Open: s.Open, Read: s.OpenReadOnly,
		Beside: s.Beside}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		l.Folder, l.File = "", path
	}
	return l, nil
}

// of returns the storage that a configuration names: by its address, else the program's own.
func (p program) of(c *config.Config) (Storage, error) {
	if c.StorageURL.IsZero() {
		return p.storage, nil
	}
	address := c.StorageURL.Reveal()
	s, found := p.at(address)
	if !found {
		return Storage{}, cli.Usage("storage_url: %q is no address of a storage: give %s", redact.Text(address),
			strings.Join(p.addresses(), " or "))
	}
	if _, path, _ := strings.Cut(address, ":"); len(s.Schemes) == 0 && path != "" {
		return Storage{}, cli.Usage("storage_url: the database of %s is in the data folder: give %[1]s: here, and the "+
			"folder with --data", s.name())
	}
	return s, nil
}

// kind returns what the storage of a configuration can do beside being opened.
func (p program) kind(c *config.Config) (admin.Kind, error) {
	s, err := p.of(c)
	if err != nil {
		return admin.Kind{}, err
	}
	k := admin.Kind{
		Storage: s.name(), Elsewhere: len(s.Schemes) > 0, Copies: s.Copy != nil, Check: s.Check, Compact: s.Compact,
		Beside: s.Beside, Instead: s.Instead,
	}
	if s.Migrations != nil {
		m := s.Migrations(c.StorageURL.Reveal())
		k.Migrations = &admin.Migrations{Status: steps(m.Status), Up: steps(m.Up), SQL: m.SQL}
	}
	return k, nil
}

func steps(of func(context.Context) ([]Migration, error)) func(context.Context) ([]admin.Migration, error) {
	return func(ctx context.Context) (all []admin.Migration, _ error) {
		list, err := of(ctx)
		for _, m := range list {
			all = append(all, admin.Migration(m))
		}
		return all, err
	}
}

func unobserved(context.Context, string, time.Duration, error) {}

// addresses returns the forms of the addresses that this program knows.
func (p program) addresses() (forms []string) {
	for _, s := range p.storages() {
		if len(s.Schemes) == 0 {
			forms = append(forms, s.name()+":DIR")
			continue
		}
		forms = append(forms, s.Schemes[0]+"://...")
	}
	return forms
}

// shown is the address of a storage without parts that may be secret. Of an address that cannot be read only
// the scheme is shown.
func shown(address string) string {
	scheme, rest, found := strings.Cut(address, ":")
	if !strings.HasPrefix(rest, "//") && !strings.ContainsAny(rest, "@?=") {
		return redact.Text(address)
	}
	u, err := url.Parse(address)
	if !found || err != nil || u.Opaque != "" {
		return scheme + ":..."
	}
	user := u.User
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	if redact.Hides(u.String()) {
		return scheme + ":..."
	}
	if user != nil {
		u.User = url.User(user.Username())
	}
	return u.String()
}
