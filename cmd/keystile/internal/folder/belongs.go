package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/keystile/keystile/internal/wholefile"
)

// belongs is the name of the file that says which store a folder belongs to, wherever that is.
const belongs = "store.json"

// Belonging says which store a folder belongs to. It holds no secret.
type Belonging struct {
	Store string    `json:"store"` // what the store is known by
	Since time.Time `json:"since"`
}

// Belongs returns which store the folder belongs to; the zero Belonging if nothing says so.
func (f *Folder) Belongs() (b Belonging, err error) {
	path := filepath.Join(f.path, belongs)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err == nil && b.Store == "" {
		err = errors.New("it names no store")
	}
	if err != nil {
		return Belonging{}, fmt.Errorf("%s says which store the data folder belongs to, and cannot be read: %w; "+
			"remove it if you know that the store is the right one", path, err)
	}
	return b, nil
}

// BelongTo writes down which store the folder belongs to.
func (f *Folder) BelongTo(b Belonging) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(f.path, belongs), append(text, '\n'))
}

// Disown has the folder belong to whichever store is put there, as somebody does who says which.
func (f *Folder) Disown() error {
	if err := os.Remove(filepath.Join(f.path, belongs)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Companions returns the names of what only a service leaves here whose store was there: a master key alone, which
// may have been made before the first start, is none.
func (f *Folder) Companions() (names []string) {
	for _, pattern := range []string{
		belongs, firstRun, journal, mail, database + ".before-restore-*", masterKey + ".retired-*",
	} {
		found, _ := filepath.Glob(filepath.Join(globbed(f.path), pattern)) // the pattern is good
		for _, path := range found {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// globbed is a path that a pattern begins with.
func globbed(path string) string {
	var out []rune
	for _, c := range path {
		switch c {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(out)
}

// HasDatabase reports whether the folder has a database. A file without a byte in it is none.
func (f *Folder) HasDatabase() (bool, error) {
	info, err := os.Stat(f.Database())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// NeedDatabase returns an error that says what to do where the folder has no database.
func (f *Folder) NeedDatabase() error {
	if _, err := os.Stat(f.Database()); err != nil {
		return fmt.Errorf("there is no database in the data folder: %w; name the right folder with --data, "+
			"or with --storage-url the address of the database where the store is", err)
	}
	return nil
}

// Forget puts what belongs to a store that is gone into a folder of its own below this one, and returns its path
// and the names of what is there now. The master key stays. Killed in the middle, it goes on when it is called again.
func (f *Folder) Forget(now time.Time) (dir string, names []string, err error) {
	names = f.Companions()
	if len(names) == 0 {
		return "", nil, nil
	}
	dir = filepath.Join(f.path, "forgotten-"+now.UTC().Format("20060102T150405.000Z"))
	if _, err := mkdir(dir, 0o700); err != nil {
		return "", nil, err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(f.path, name), filepath.Join(dir, name)); err != nil {
			return "", nil, err
		}
	}
	return dir, names, errors.Join(wholefile.SyncDir(dir), wholefile.SyncDir(f.path))
}
