package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/keystile/keystile/internal/wholefile"
	"github.com/keystile/keystile/storage"
)

// MasterKeys returns the keys in a file, "" being master.key in the folder, and the file's
// path. The first key seals, all of them open. The folder's own file is made for a database
// that does not exist yet; any other is only read.
func (f *Folder) MasterKeys(file string) (keys []storage.MasterKey, path string, err error) {
	path = f.keyFile(file)
	if file == "" {
		keys, err = f.ownKeys(path)
		return keys, path, err
	}
	keys, err = readKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("master_key_file: %w; make one with: (umask 077; openssl rand -base64 32 > %s)", err, file)
	}
	return keys, path, err
}

// KeptKeys is MasterKeys for a database that is there: only a key that is there as well can
// open it, so none is made.
func (f *Folder) KeptKeys(file string) (keys []storage.MasterKey, path string, err error) {
	path = f.keyFile(file)
	keys, err = readKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the master key is missing: %w; put the one that belongs to the database there (mode 0600), or "+
			"set KEYSTILE_MASTER_KEY to it", err)
	}
	return keys, path, err
}

// WriteKeys replaces what a key file holds. After a crash it holds the old keys or the new
// ones.
func (f *Folder) WriteKeys(file string, keys ...storage.MasterKey) error {
	path, err := filepath.EvalSymlinks(f.keyFile(file)) // the file itself, not a link to it
	if err != nil {
		return err
	}
	return wholefile.Write(path, lines(keys))
}

// RetireKey keeps a key that is no longer used in a file of its own beside the key file, and
// returns that file's path.
func (f *Folder) RetireKey(file string, key storage.MasterKey) (path string, err error) {
	path = f.keyFile(file) + ".retired-" + key.ID()
	return path, wholefile.Write(path, lines([]storage.MasterKey{key}))
}

func (f *Folder) keyFile(file string) string {
	if file == "" {
		return filepath.Join(f.path, masterKey)
	}
	return file
}

func lines(keys []storage.MasterKey) []byte {
	var text []byte
	for _, k := range keys {
		text = append(append(text, k.Text()...), '\n')
	}
	return text
}

func (f *Folder) ownKeys(path string) ([]storage.MasterKey, error) {
	// In this order: another process that is starting writes the key first, then the database. A
	// process that sees the database sees the key.
	_, none := os.Stat(f.Database())
	keys, err := readKeys(path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return keys, err
	case none == nil:
		return nil, fmt.Errorf("%s is missing, but %s was sealed with a master key: put the file back, or set "+
			"KEYSTILE_MASTER_KEY to the key", path, f.Database())
	case !errors.Is(none, fs.ErrNotExist):
		return nil, none
	}
	keys = []storage.MasterKey{storage.NewMasterKey()}
	err = wholefile.Create(path, lines(keys))
	if errors.Is(err, fs.ErrExist) {
		return readKeys(path)
	}
	f.madeKey = err == nil
	return keys, err
}

// UnmakeKey removes the folder's own key file if MasterKeys has made it, because nothing is sealed with the key after
// all, and returns its path; "" if it was there before.
func (f *Folder) UnmakeKey() (path string, err error) {
	if !f.madeKey {
		return "", nil
	}
	path = f.keyFile("")
	if err := os.Remove(path); err != nil {
		return "", err
	}
	f.madeKey = false
	return path, wholefile.SyncDir(f.path)
}

// ReadKey reads a file with one key that only its owner can read.
func ReadKey(path string) (storage.MasterKey, error) {
	keys, err := readKeys(path)
	if err == nil && len(keys) > 1 {
		err = fmt.Errorf("%s holds %d keys; name a file with one", path, len(keys))
	}
	if err != nil {
		return storage.MasterKey{}, err
	}
	return keys[0], nil
}

// credential reports whether a file is one that systemd has laid down for this service alone (LoadCredential=)
// and that no user can write. Its readers are in an access list, whose mask looks like the right of a group.
func credential(path string, mode fs.FileMode) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return dir != "" && filepath.Dir(path) == filepath.Clean(dir) && mode.Perm()&^0o440 == 0
}

// maxKeyFile is more than any change of keys leaves behind.
const maxKeyFile = 4096

// readKeys reads a key a line. Its errors show nothing of the file.
func readKeys(path string) (keys []storage.MasterKey, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if shared(info.Mode()) && !credential(path, info.Mode()) {
		return nil, fmt.Errorf("other users can read the master key %s (mode %04o); run: chmod 600 %s", path,
			info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("%s does not hold a master key: it has more than %d bytes; put the right file back", path,
			maxKeyFile)
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, err := storage.ParseMasterKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s does not hold a master key; put the right file back: %w", path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s does not hold a master key: it is empty; put the right file back", path)
	}
	return keys, nil
}
