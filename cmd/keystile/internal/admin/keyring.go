package admin

import (
	"errors"
	"fmt"
	"sync"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage"
)

// Keyring reads and changes the master keys of a data folder, kept in the environment or a file.
// The first key seals, all of them open. A process has one for a folder.
type Keyring struct {
	conf   *config.Config
	folder *folder.Folder
	busy   sync.Mutex // held by who changes the keys
}

// NewKeyring returns the keyring of a folder.
func NewKeyring(c *config.Config, f *folder.Folder) *Keyring { return &Keyring{conf: c, folder: f} }

const inEnvironment = "KEYSTILE_MASTER_KEY"

// Read returns the keys as they are kept now, and where.
func (k *Keyring) Read() (keys []storage.MasterKey, from string, err error) {
	return k.read(k.folder.KeptKeys)
}

// Make is Read for a start: in a folder without a database it makes the first key.
func (k *Keyring) Make() (keys []storage.MasterKey, from string, err error) {
	return k.read(k.folder.MasterKeys)
}

func (k *Keyring) read(file func(string) ([]storage.MasterKey, string, error)) ([]storage.MasterKey, string, error) {
	if len(k.conf.MasterKeys) > 0 {
		return k.conf.MasterKeys, inEnvironment, nil
	}
	return file(k.conf.MasterKeyFile)
}

// add puts a new key in front of those that are kept. Where this cannot be done by a
// command, the error tells the operator how to.
func (k *Keyring) add(fresh storage.MasterKey, keys []storage.MasterKey, from string) ([]storage.MasterKey, error) {
	next := append([]storage.MasterKey{fresh}, keys...)
	if len(k.conf.MasterKeys) > 0 {
		return nil, fmt.Errorf("the master key comes from %s, which no command can change: make a new one (openssl rand "+
			"-base64 32), "+
			"put it in front of the present one with a comma between them, restart every node, and run this again",
			inEnvironment)
	}
	if err := k.folder.WriteKeys(k.conf.MasterKeyFile, next...); err != nil {
		return nil, fmt.Errorf("%w; nothing has changed. Where %s cannot be written, put a line with a new key in front of "+
			"the present one yourself, restart every node, and run this again", err, from)
	}
	return next, nil
}

// retire takes the keys that nothing is sealed with any more away from where they are kept.
// Each stays in a file of its own: a backup from before cannot be opened without it.
func (k *Keyring) retire(now storage.MasterKey, old []storage.MasterKey,
	from string) (files []string, note string, err error) {
	switch {
	case len(old) == 0:
		return nil, "", nil
	case len(k.conf.MasterKeys) > 0:
		return nil, "Take the other keys out of " + inEnvironment + " now, and keep them with the backups made before.", nil
	}
	for _, key := range old {
		if key.ID() == now.ID() {
			continue
		}
		file, failed := k.folder.RetireKey(k.conf.MasterKeyFile, key)
		files, err = append(files, file), errors.Join(err, failed)
	}
	if err == nil {
		err = k.folder.WriteKeys(k.conf.MasterKeyFile, now)
	}
	if err != nil {
		return nil, "", fmt.Errorf("everything is sealed with key %s now, but the other keys cannot be taken out of %s: "+
			"%w; keep them with the backups made before, leave the first line alone, and run this again", now.ID(), from, err)
	}
	return files, "", nil
}
