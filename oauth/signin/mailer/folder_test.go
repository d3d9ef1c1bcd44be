package mailer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolderHasEachMailInAFile(t *testing.T) {
	f := NewFolder(filepath.Join(t.TempDir(), "a", "mail"))
	must(t, f.Send(t.Context(), "ada@example.org", chineseSubject, chineseText))
	must(t, f.Send(t.Context(), "bob@example.org", "second", "t"))
	entries, err := os.ReadDir(f.Path())
	must(t, err)
	if len(entries) != 2 {
		t.Fatalf("%d files, want 2", len(entries))
	}
	first := filepath.Join(f.Path(), entries[0].Name())
	text, err := os.ReadFile(first)
	must(t, err)
	for _, want := range []string{"To: ada@example.org\n", "Subject: " + chineseSubject + "\n", "\n\n您好！", "123456"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %s", first, want, text)
		}
	}
	for path, want := range map[string]os.FileMode{first: 0o600, f.Path(): os.ModeDir | 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func TestFolderKeepsTheLastMails(t *testing.T) {
	f := NewFolder(filepath.Join(t.TempDir(), "[mail]"))
	must(t, os.Mkdir(f.Path(), 0o755))
	must(t, os.WriteFile(filepath.Join(f.Path(), "notes.txt"), nil, 0o600))
	for i := range maxKept + 5 {
		must(t, f.Send(t.Context(), "ada@example.org", fmt.Sprint("s", i), "t"))
	}
	entries, err := os.ReadDir(f.Path())
	must(t, err)
	if len(entries) != maxKept+1 {
		t.Fatalf("%d files, want %d mails and the notes", len(entries), maxKept)
	}
	text, err := os.ReadFile(filepath.Join(f.Path(), entries[0].Name()))
	if err != nil || !strings.Contains(string(text), "Subject: s5\n") {
		t.Errorf("the oldest is %s, %v", text, err)
	}
}

func TestFolderTakesNoMoreThanAServer(t *testing.T) {
	f := NewFolder(t.TempDir())
	for _, c := range injections {
		if err := f.Send(t.Context(), c.to, c.subject, "t"); err == nil {
			t.Errorf("Send(%q, %q) is written", c.to, c.subject)
		}
	}
}
