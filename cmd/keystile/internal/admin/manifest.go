package admin

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/keystile/keystile/internal/wholefile"
)

// manifest describes a backup, in a file beside it: its bytes, their checksum, and how many records are in it.
type manifest struct {
	File     string         `json:"file"`
	MadeAt   time.Time      `json:"made_at"`
	Bytes    int64          `json:"bytes"`
	SHA256   string         `json:"sha256"`
	Contents map[string]int `json:"contents"` // how many of each; nil: the storage does not count them
}

const maxManifest = 1 << 20 // bytes

// manifestOf is the name of the file beside a backup.
func manifestOf(path string) string { return path + ".manifest.json" }

func (m manifest) write(path string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(manifestOf(path), append(text, '\n'))
}

// readManifest returns what stands beside a backup, and false if nothing does.
func readManifest(path string) (m manifest, found bool, err error) {
	name := manifestOf(path)
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxManifest))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if sum, bad := hex.DecodeString(m.SHA256); err == nil && (bad != nil || len(sum) != 32) {
		err = errors.New("it has no sha256 of 64 hex digits")
	}
	if err != nil {
		return m, false, fmt.Errorf("%s cannot be read: %w; take another backup, or move that file away to restore without "+
			"a checksum", name, err)
	}
	return m, true, nil
}

// matches says whether a backup is the file that the manifest was written for.
func (m manifest) matches(path string, read int64, sum hash.Hash) error {
	if got := hex.EncodeToString(sum.Sum(nil)); got != m.SHA256 || read != m.Bytes {
		return fmt.Errorf("%s is not the file that was made: %s says %d bytes with SHA-256 %s, and these are %d with %s; "+
			"it was damaged or exchanged, so take another backup",
			path, filepath.Base(manifestOf(path)), m.Bytes, m.SHA256, read, got)
	}
	return nil
}
