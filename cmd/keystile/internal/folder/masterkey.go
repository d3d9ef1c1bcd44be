package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/keystile/keystile/storage"
)

// MasterKey returns the key in a file, "" being master.key in the folder, and the file's
// path. The folder's own is made for a database that does not exist yet; any other file is
// only read.
func (f *Folder) MasterKey(file string) (key storage.MasterKey, path string, err error) {
	if file == "" {
		path = filepath.Join(f.path, masterKey)
		key, err = f.ownKey(path)
		return key, path, err
	}
	key, err = readKey(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("master_key_file: %w; make one with: (umask 077; openssl rand -base64 32 > %s)", err, file)
	}
	return key, file, err
}

// KeptKey is MasterKey for a database from elsewhere: only a key that is there can open it,
// so none is made.
func (f *Folder) KeptKey(file string) (key storage.MasterKey, path string, err error) {
	if file == "" {
		file = filepath.Join(f.path, masterKey)
	}
	key, err = readKey(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the master key is missing: %w; put the one that belongs to the database there (mode 0600), or set KEYSTILE_MASTER_KEY to it", err)
	}
	return key, file, err
}

func (f *Folder) ownKey(path string) (storage.MasterKey, error) {
	// In this order: another process that is starting writes the key first, then the
	// database. Who sees the database sees the key.
	_, none := os.Stat(f.Database())
	key, err := readKey(path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return key, err
	case none == nil:
		return key, fmt.Errorf("%s is missing, but %s was sealed with a master key: put the file back, or set KEYSTILE_MASTER_KEY to the key", path, f.Database())
	case !errors.Is(none, fs.ErrNotExist):
		return key, none
	}
	key = storage.NewMasterKey()
	err = create(path, []byte(key.Text()+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return readKey(path)
	}
	return key, err
}

func readKey(path string) (storage.MasterKey, error) {
	file, err := os.Open(path)
	if err != nil {
		return storage.MasterKey{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return storage.MasterKey{}, err
	}
	if shared(info.Mode()) {
		return storage.MasterKey{}, fmt.Errorf("other users can read the master key %s (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return storage.MasterKey{}, err
	}
	key, err := storage.ParseMasterKey(string(text))
	if err != nil {
		return key, fmt.Errorf("%s does not hold a master key; put the right file back: %w", path, err)
	}
	return key, nil
}
