package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/wholefile"
)

const keyNote = "The master key (master.key) is NOT in a backup, and a backup is of no use without it: keep a copy " +
	"of the key too, in another place, and after a key rekey the old copy as long as the backups from before."

func backupLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "backup", Words: []string{"FILE"}, Summary: "Copy the database, while the server runs or not",
		Details: "The copy shows one moment, whole. It is written as the user who calls, with mode 0600, and read\n" +
			"back. FILE.manifest.json beside it has its SHA-256 and how much of what is in it: keep the two\n" +
			"together, restore checks the one by the other.\n" + keyNote,
		Examples: []string{"keystile backup /backup/keystile-$(date +%F).db", "keystile backup --force latest.db --json"},
		Flags:    append([]cli.Flag{{Name: "force", Help: "replace FILE if it is there"}}, common()...),
		Run:      func(ctx context.Context, call cli.Call) error { return backup(ctx, call, opener) },
	}
}

// backup writes the file in the process of the caller: a server may have another user's
// rights and another view of the file system.
func backup(ctx context.Context, call cli.Call, opener Opener) error {
	conf, kind, err := opener.kind(call)
	if err != nil {
		return err
	}
	if !kind.Copies {
		return kind.lacks("backup")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // so that no half of a file is left
	defer stop()
	path, err := filepath.Abs(call.Words[0])
	if err != nil {
		return err
	}
	f, err := withDatabase(conf.Data)
	if err != nil {
		return err
	}
	if call.On("force") { // what stood beside the old copy would call the new one damaged
		if err := os.Remove(manifestOf(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	made, err := opener.copyTo(ctx, call, conf, f, path)
	if err != nil {
		return err
	}
	if made.Contents, err = kind.contents(path); err != nil {
		return fmt.Errorf("the copy was written, and restore would refuse it; see whether the disk and the database itself "+
			"are well, and make another one: %w", err)
	}
	if err := made.write(path); err != nil {
		return err
	}
	return say(call, answer{
		{"file", path}, {"bytes", made.Bytes}, {"sha256", made.SHA256}, {"manifest", manifestOf(path)},
		{"master_key_included", false}, {"note", keyNote},
	})
}

// copyTo copies the database of a running server, or of the folder, to a file.
func (h Opener) copyTo(ctx context.Context, call cli.Call, conf *config.Config, f *folder.Folder,
	path string) (manifest, error) {
	made, sum := manifest{File: filepath.Base(path), MadeAt: time.Now().UTC()}, sha256.New()
	taken := fmt.Errorf("%s is there already; choose another name, or replace it with --force", path)
	if _, err := os.Lstat(path); err == nil && !call.On("force") {
		return made, taken
	}
	m := terminal.Watch(call.Stderr, "copying the database", "bytes")
	defer m.End()
	err := wholefile.Place(path, call.On("force"), func(w io.Writer) error {
		w = untilDone{ctx, io.MultiWriter(w, sum, m)}
		return h.reading().reach(ctx, conf, f, func(socket string) (err error) {
			made.Bytes, err = fetch(ctx, socket, w)
			return err
		}, func(target Target) (err error) {
			made.Bytes, err = target.Copy(w)
			return err
		})
	})
	if errors.Is(err, fs.ErrExist) {
		err = taken
	}
	made.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return made, err
}

// contents checks a database file and counts what is in it.
func (k Kind) contents(path string) (map[string]int, error) {
	if k.Check == nil {
		return nil, nil
	}
	return k.Check(path)
}

// withDatabase opens a data folder that has a database: a copy of one that was made just
// now, because the folder's name was mistyped, would look like a backup.
func withDatabase(data string) (*folder.Folder, error) {
	f, err := folder.Find(data)
	if err != nil {
		return nil, err
	}
	return f, f.NeedDatabase()
}

type untilDone struct {
	ctx context.Context
	io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}

func say(call cli.Call, a output) error {
	text, err := a.text(call.On("json"))
	if err != nil {
		return err
	}
	_, err = io.WriteString(call.Stdout, text)
	return err
}
