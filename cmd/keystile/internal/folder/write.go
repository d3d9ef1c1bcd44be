package folder

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces a file by a new one with mode 0600. After a crash there is the old one
// or the new one, whole.
func Write(path string, content []byte) error { return place(path, content, os.Rename) }

// create is Write for a file that must not be there: then it is fs.ErrExist.
func create(path string, content []byte) error { return place(path, content, os.Link) }

func place(path string, content []byte, appear func(from, to string) error) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(0o600), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := appear(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}
