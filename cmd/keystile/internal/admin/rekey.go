package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// newKeyFlag names a file. It is read by the process of the caller, so that what travels to
// a server is the key.
const newKeyFlag = "new-key-file"

var masterKeyCommands = []command{
	{
		name: "key rekey", summary: "Change the master key, while the server runs or not", do: rekey, acts: true,
		wait: time.Hour,
		details: "A new master key is put in front of the present one in the key file, everything that is sealed\n" +
			"is sealed with it, and then the old key leaves the file: it is kept in master.key.retired-ID,\n" +
			"because a backup made before cannot be opened without it. Move it to where these backups are,\n" +
			"and copy the new master.key as you did the old one. Whatever interrupts it, run it again.\n" +
			"Where the key comes from KEYSTILE_MASTER_KEY, or from a file that cannot be written, put the new\n" +
			"key in front of the old one yourself (separated by a comma, or on a line of its own), restart\n" +
			"every node, run this, and take the old one away.",
		examples: []string{"keystile key rekey", "keystile key rekey --new-key-file /run/secrets/new.key --keep-old"},
		flags: []cli.Flag{
			{Name: newKeyFlag, Value: "FILE", Help: "take the new key from this file (mode 0600) instead of drawing it"},
			{Name: "keep-old", Help: "leave the old key in the key file, so that backups made before can be restored as they " +
				"are"},
		},
	},
}

// readKeyFile replaces the file of the flag by the key in it.
func readKeyFile(call cli.Call) (cli.Args, error) {
	args := call.Args
	if args.Get(newKeyFlag) == "" {
		return args, nil
	}
	key, err := folder.ReadKey(args.Get(newKeyFlag))
	if err != nil {
		return args, err
	}
	args.Flags = maps.Clone(args.Flags)
	args.Flags[newKeyFlag] = []string{key.Text()}
	return args, nil
}

// rekey changes the master key. At every moment the keys that are kept open everything
// there is, and an interrupted change is taken up where it ended.
func rekey(ctx context.Context, target Target, args cli.Args) (output, error) {
	if !target.Keys.busy.TryLock() {
		return nil, errors.New("the master key is being changed at this moment; wait until that is done")
	}
	defer target.Keys.busy.Unlock()
	keys, from, err := target.Keys.Read()
	if err != nil {
		return nil, err
	}
	begun, err := rekeying(ctx, target.Store, keys[0])
	if err != nil {
		return nil, err
	}
	if keys, err = target.nextKeys(ctx, args, keys, from, begun); err != nil {
		return nil, err
	}
	if err := target.Store.BeginRekey(ctx, keys...); err != nil {
		return nil, fmt.Errorf("%w (the keys came from %s)", err, from)
	}
	sealed, err := target.Store.Reseal(ctx)
	if err != nil {
		return nil, fmt.Errorf("the change to master key %s is not complete, and nothing is lost; run this again: %w",
			keys[0].ID(), err)
	}
	said := answer{{"master_key", keys[0].ID()}, {"kept_in", from}, {"documents", int64(sealed)}}
	if !args.On("keep-old") {
		files, note, err := target.Keys.retire(keys[0], keys[1:], from)
		if err != nil {
			return nil, err
		}
		said = append(said, field{"retired", slices.Concat([]string{}, files)})
		if note != "" {
			said = append(said, field{"note", note})
		}
	}
	if err := target.Store.EndRekey(ctx); err != nil {
		return nil, err
	}
	return said, target.Recorder.Note(ctx, target.By, admin.Act{What: "key rekey", On: keys[0].ID()})
}

// rekeying reports whether a change of the master key has begun: by a command, or by an
// operator who has put another key in front.
func rekeying(ctx context.Context, store *storage.Store, first storage.MasterKey) (bool, error) {
	begun, err := store.Rekeying(ctx)
	if err != nil || begun {
		return begun, err
	}
	sealed, err := store.SealedWith(ctx)
	return sealed != first.ID(), err
}

// nextKeys returns the keys of the change: those that are kept if it has begun, else with a
// new one before them, which is kept from now on.
func (r Target) nextKeys(ctx context.Context, args cli.Args, keys []storage.MasterKey, from string,
	begun bool) ([]storage.MasterKey, error) {
	fresh := storage.NewMasterKey()
	if text := args.Get(newKeyFlag); text != "" {
		var err error
		if fresh, err = storage.ParseMasterKey(text); err != nil {
			return nil, &cli.UsageError{Err: err}
		}
		known := slices.ContainsFunc(keys, func(k storage.MasterKey) bool { return k.ID() == fresh.ID() })
		switch {
		case begun && fresh.ID() != keys[0].ID():
			return nil, fmt.Errorf("a change to master key %s has begun: end it first, without --%s", keys[0].ID(), newKeyFlag)
		case !begun && known:
			return nil, fmt.Errorf("key %s is in use already; name a new one", fresh.ID())
		}
	}
	if begun {
		return keys, nil
	}
	if err := r.Recorder.Note(ctx, r.By, admin.Act{What: "key rekey begins", On: fresh.ID(),
		Changes: []string{"master key " + keys[0].ID() + " -> " + fresh.ID()}}); err != nil {
		return nil, fmt.Errorf("the audit trail could not be written, so nothing was changed: %w", errors.Unwrap(err))
	}
	return r.Keys.add(fresh, keys, from)
}
