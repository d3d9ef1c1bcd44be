//go:build unix

package wholefile

import (
	"errors"
	"os"
)

// SyncDir makes a file's name in the folder survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
