package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// check looks at all that a service of this configuration relies on, and changes nothing.
func (p program) check(ctx context.Context, c *config.Config, nodes int) (int, []admin.Finding, error) {
	s, err := p.of(c)
	if err != nil {
		return 0, nil, err
	}
	shared := len(s.Schemes) > 0
	if nodes == 0 {
		if nodes = 1; shared {
			nodes = 2
		}
	}
	k := &checkup{program: p, conf: c, storage: s, shared: shared, nodes: nodes}
	k.folder(ctx)
	k.reached()
	if shared {
		k.database(ctx)
	} else {
		k.file(ctx)
	}
	k.counting(ctx)
	return nodes, k.found, nil
}

// checkup is one run of storage check.
type checkup struct {
	program
	conf    *config.Config
	storage Storage
	shared  bool // several nodes can use the storage
	nodes   int
	found   []admin.Finding
}

func (k *checkup) add(name string, s admin.State, says, do string) {
	k.found = append(k.found, admin.Finding{Name: name, State: s, Says: says, Do: do})
}

// folder judges what this machine keeps itself.
func (k *checkup) folder(ctx context.Context) {
	if !k.shared && k.nodes > 1 {
		k.add("store", admin.Unsafe,
			fmt.Sprintf("the store is a file of one data folder (%s), and %d nodes would have one each: what one issues is "+
				"unknown to the others", k.storage.name(), k.nodes),
			"storage_url=postgres://... for all of them; keystile storage copy brings what is there along")
	}
	f, err := folder.Find(k.conf.Data)
	if err != nil {
		k.add("data", admin.Unknown, err.Error(), "run the check where the service runs, with its configuration")
		return
	}
	k.rights(f)
	k.belonging(ctx, f)
	what := "the journal of usage"
	if !k.shared {
		what = "the database, with the journal of usage,"
	}
	switch m, err := folder.On(f.Journal()); {
	case err != nil:
		k.add("journal", admin.Unknown, err.Error(), "see that "+f.Journal()+" is on a disk of this machine")
	case m.Name != "":
		k.add("journal", admin.Unsafe, fmt.Sprintf("%s in %s is on %s: %s", what, f.Path(), m.Name, m.Says),
			"a disk of the machine for the data folder, or a volume of a block device")
	default:
		k.add("journal", admin.Safe, what+" is on a disk", "")
	}
}

// belonging says where the store that the data folder belongs to is gone: then no node starts.
func (k *checkup) belonging(ctx context.Context, f *folder.Folder) {
	b, err := belongingOf(k.storage, k.conf, f)
	if err == nil {
		err = b.before(ctx, k.conf)
	}
	if errors.Is(err, admin.ErrGone) {
		k.add("store", admin.Unsafe, err.Error(), "what it says, before anything is started")
	}
}

// rights judges who may get into the data folder, and whether this user may.
func (k *checkup) rights(f *folder.Folder) {
	probe, err := os.CreateTemp(f.Path(), ".check-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	switch warning := f.Warning(); {
	case err != nil:
		k.add("data", admin.Unsafe, fmt.Sprintf("this user cannot write to the data folder: %v", err),
			"run the check as the user of the service; or give the folder to that user, with mode 0700")
	case warning != "":
		k.add("data", admin.Unsafe, warning+"; the master key and the journal are in there", "chmod 700 "+f.Path())
	default:
		k.add("data", admin.Safe, "the data folder "+f.Path()+" is for its owner alone", "")
	}
}

// reached judges how people and applications get to the service.
func (k *checkup) reached() {
	switch u, err := url.Parse(k.conf.BaseURL); {
	case k.conf.BaseURL == "" && k.nodes > 1:
		k.add("base_url", admin.Unsafe, "without base_url each node calls itself by its own address: tokens of one are "+
			"those of another issuer at the next", "base_url, the same at every node")
	case k.conf.BaseURL == "":
		k.add("base_url", admin.Noted, "without base_url only this machine can sign in",
			"base_url, the address that people use")
	case err == nil && u.Scheme != "https" && !localName(u.Hostname()):
		k.add("base_url", admin.Unsafe, "base_url is http: passwords and tokens can be read on their way",
			"TLS at the balancer, and https in base_url")
	default:
		k.add("base_url", admin.Safe, "people and applications come by "+k.conf.BaseURL, "")
	}
	if k.nodes > 1 && len(k.conf.TrustedProxies) == 0 {
		k.add("trusted_proxies", admin.Unsafe, "no proxy is trusted, so that all who come through the balancer share the "+
			"limits and locks of its one address", "trusted_proxies, the addresses of the balancer")
	}
	for _, p := range k.conf.TrustedProxies {
		if p.Bits() == 0 {
			k.add("trusted_proxies", admin.Unsafe, "every address is a trusted proxy: a client that writes "+
				"X-Forwarded-For chooses whose limits and locks count",
				"trusted_proxies, the addresses of the balancer and nothing else")
			return
		}
	}
	if len(k.conf.TrustedProxies) > 0 {
		k.add("trusted_proxies", admin.Safe, "X-Forwarded-For is believed of the balancer", "")
	}
}

func localName(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// database judges the database that nodes share, and whether this node's master key is its.
func (k *checkup) database(ctx context.Context) {
	address := k.conf.StorageURL.Reveal()
	if k.storage.Findings != nil {
		for _, f := range k.storage.Findings(ctx, address, k.nodes) {
			k.add(f.Name, admin.State(f.State), f.Says, f.Do)
		}
	}
	if k.storage.ReadAt == nil {
		return
	}
	const name = "master_key"
	f, err := folder.Find(k.conf.Data)
	if err != nil {
		return // it is said already
	}
	b, err := k.storage.ReadAt(ctx, address, Watch{Log: slog.New(slog.DiscardHandler), Observe: unobserved})
	from := ""
	if err == nil {
		from, err = k.opens(ctx, f, b)
	}
	switch {
	case err == nil:
		k.add(name, admin.Safe, fmt.Sprintf("the master key (%s) is the store's", from), "")
	case errors.Is(err, storage.ErrMasterKey):
		k.add(name, admin.Unsafe, fmt.Sprintf("%v (the key came from %s): this node does not start", err, from),
			"the master key of the other nodes, in KEYSTILE_MASTER_KEY or master_key_file")
	case errors.Is(err, fs.ErrNotExist):
		k.add(name, admin.Unsafe, err.Error(), "the master key of the other nodes, in KEYSTILE_MASTER_KEY or master_key_file")
	case errors.Is(err, driver.ErrNotFound):
		k.add(name, admin.Noted, "there is no store yet: the first node that starts seals it with its master key",
			"the same KEYSTILE_MASTER_KEY or master_key_file for every node")
	case errors.Is(err, errReadOnly):
		k.add(name, admin.Noted, "the store has not been opened with this master key yet, or a change of it has begun",
			"keystile key rekey, if a change was begun")
	default:
		k.add(name, admin.Unknown, err.Error(), "see what else is found, and check again")
	}
}

// opens reports whether the master key of a folder opens the store of a backend, which it closes. It
// compares the stored counts with the records.
func (k *checkup) opens(ctx context.Context, f *folder.Folder, b driver.Backend) (from string, err error) {
	keys, from, err := admin.NewKeyring(k.conf, f).Read()
	if err == nil {
		var store *storage.Store
		if store, err = storage.Open(ctx, readOnly{b}, keys...); err == nil {
			k.found = append(k.found, admin.CheckCounters(ctx, store), admin.CheckClocks(ctx, store))
			if k.shared {
				k.rows(store.CheckRows(ctx))
			}
		}
	}
	return from, errors.Join(err, b.Close())
}

// file looks into the database of a data folder that no server holds. Where it cannot be read the next
// start says why.
func (k *checkup) file(ctx context.Context) {
	f, err := folder.Find(k.conf.Data)
	if err != nil || k.storage.OpenReadOnly == nil {
		return
	}
	if b, err := k.storage.OpenReadOnly(ctx, f.Database()); err == nil {
		k.opens(ctx, f, b)
	}
	k.everyRow(f)
}

const rowsName = "rows"

// everyRow reads the file of a data folder from end to end.
func (k *checkup) everyRow(f *folder.Folder) {
	if _, err := os.Stat(f.Database()); err != nil || k.storage.Check == nil {
		return
	}
	found, err := k.storage.Check(f.Database())
	switch {
	case errors.Is(err, bolt.ErrInUse):
		k.add(rowsName, admin.Noted, "a server has the database open, so its rows were not read",
			"keystile backup FILE reads every row of a copy; or check again while the service is stopped")
	case err != nil:
		k.add(rowsName, admin.Unsafe, err.Error(),
			"keystile restore FILE, with the last backup; what is damaged is not served meanwhile")
	default:
		rows := 0
		for name, n := range found {
			if name != bolt.Unsummed {
				rows += n
			}
		}
		k.rows(rows, found[bolt.Unsummed], nil, nil)
	}
}

// rows says whether what is stored is what was written.
func (k *checkup) rows(read, unsummed int, damaged []error, err error) {
	switch {
	case err != nil:
		k.add(rowsName, admin.Unknown, err.Error(), "see what else is found, and check again")
	case len(damaged) > 0:
		k.add(rowsName, admin.Unsafe, errors.Join(damaged...).Error(),
			"bring these rows back from a backup of the database; they are not served meanwhile")
	case unsummed > 0:
		k.add(rowsName, admin.Safe, fmt.Sprintf("%d rows were read, and are what was written; "+
			"%d of them have no checksum, and get one when they are written next", read, unsummed), "")
	default:
		k.add(rowsName, admin.Safe, fmt.Sprintf("%d rows were read, and are what was written", read), "")
	}
}
