package mailer

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/pattern"
)

// maxKept bounds the emails in a folder; the oldest are removed.
const maxKept = 200

// Folder writes each email into a file of its own, for a trial without a mail server. The codes
// can be read there: do not use it for the emails of others.
type Folder struct {
	path string
	mu   sync.Mutex
}

// NewFolder makes a Folder. The folder itself, for its owner alone, is made with the first mail.
func NewFolder(path string) *Folder { return &Folder{path: path} }

// Path returns the path of the folder.
func (f *Folder) Path() string { return f.path }

// Send writes one mail. Files sort by the time they were written.
func (f *Folder) Send(_ context.Context, to, subject, text string) error {
	if err := checkMessage(to, subject, text); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return fmt.Errorf("mailer: %w", err)
	}
	if err := os.Chmod(f.path, 0o700); err != nil { // an umask or an earlier hand may have set another mode
		return fmt.Errorf("mailer: %w", err)
	}
	if err := f.removeOldest(); err != nil {
		return fmt.Errorf("mailer: %w", err)
	}
	now := time.Now().UTC()
	name := now.Format("20060102-150405.000000000") + "-" + strings.ToLower(rand.Text()[:6]) + ".txt"
	content := fmt.Sprintf("Date: %s\nTo: %s\nSubject: %s\n\n%s\n", now.Format(time.RFC1123Z), to, subject,
		strings.TrimRight(text, "\n"))
	if err := os.WriteFile(filepath.Join(f.path, name), []byte(content), 0o600); err != nil {
		return fmt.Errorf("mailer: %w", err)
	}
	return nil
}

// removeOldest removes the oldest emails, and no other files.
func (f *Folder) removeOldest() error {
	entries, err := os.ReadDir(f.path) // sorted by name
	if err != nil {
		return err
	}
	mails := slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !mailName().MatchString(e.Name()) })
	for _, e := range mails[:max(0, len(mails)-maxKept+1)] {
		if err := os.Remove(filepath.Join(f.path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

var mailName = pattern.Lazy(`^\d{8}-\d{6}\.\d{9}-[a-z2-7]{6}\.txt$`)
