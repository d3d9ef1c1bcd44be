// Package wholefile writes files that are there whole or not at all, and that only their owner reads.
package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write replaces a file by a new one with mode 0600. After a crash there is the old one
// or the new one, whole.
func Write(path string, content []byte) error { return Place(path, true, bytesOf(content)) }

// Create is Write for a file that must not be there: then it is fs.ErrExist.
func Create(path string, content []byte) error { return Place(path, false, bytesOf(content)) }

func bytesOf(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// Place makes a file with mode 0600 of what fill writes. Until all of it is on the disk
// nothing has the name. A file that is there is replaced, or without over is fs.ErrExist.
func Place(path string, over bool, fill func(io.Writer) error) error {
	temp, err := Draft(path, fill)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	appear := os.Link
	if over {
		appear = os.Rename
	}
	if err := appear(temp, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Draft writes a file beside path. The caller removes it.
func Draft(path string, fill func(io.Writer) error) (string, error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return "", err
	}
	err = fill(temp)
	if err = errors.Join(err, temp.Chmod(0o600), temp.Sync(), temp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	return temp.Name(), nil
}
