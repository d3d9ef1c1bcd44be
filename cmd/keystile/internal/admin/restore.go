package admin

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// olderKey helps operators who restore a backup from before a change of the master key.
const olderKey = "if that key was in use before a key rekey, put its line behind the others in the key file (it is " +
	"beside it, in master.key.retired-ID), restore again, and run: keystile key rekey"

func restoreLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "restore", Words: []string{"FILE"},
		Summary: "Put a backup in the database's place, while the server is stopped",
		Details: "The backup is looked at first: its checksum, if FILE.manifest.json is beside it, every page and\n" +
			"row, the audit trail, and whether the master key opens it. If one of them is wrong nothing is\nchanged.\n" +
			"The database there was is kept beside it, as keystile.db.before-restore-TIME.\n" +
			"What was revoked, ended or replaced after the backup is valid again: where that matters,\n" +
			"end it again (session end, app rotate-secret, key rotate).\n" +
			"A backup from before a key rekey wants the master key of that time: put its line behind the\n" +
			"others in master.key (it is in master.key.retired-ID), restore, and run: keystile key rekey.",
		Examples: []string{"keystile restore /backup/keystile-2026-11-21.db"},
		Flags:    common(),
		Run:      func(ctx context.Context, call cli.Call) error { return restore(ctx, call, opener) },
	}
}

func restore(ctx context.Context, call cli.Call, opener Opener) error {
	conf, kind, err := opener.kind(call)
	if err != nil {
		return err
	}
	if !kind.Copies {
		return kind.lacks("restore")
	}
	name := call.Words[0]
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	f, err := folder.Find(conf.Data)
	if err != nil {
		return err
	}
	known, listed, err := readManifest(name)
	if err != nil {
		return err
	}
	m := terminal.Watch(call.Stderr, "reading and checking the backup", "bytes")
	defer m.End()
	var read int64
	sum := sha256.New()
	kept, err := f.Restore(time.Now(), func(w io.Writer) error {
		read, err = io.Copy(io.MultiWriter(w, sum, m), file)
		return err
	}, func(path string) error {
		if listed {
			if err := known.matches(name, read, sum); err != nil {
				return err
			}
		}
		_, err := kind.contents(path)
		if err == nil {
			err = opener.check(ctx, conf, f, path)
		}
		return aboutBackup(err, path, name)
	}, kind.Beside...)
	if err != nil {
		return err
	}
	m.End()
	return say(call, answer{{"restored", name}, {"database", f.Database()}, {"kept", kept},
		{"checksum", checksumOf(name, listed)}})
}

// checksumOf says whether the checksum of a backup was checked.
func checksumOf(name string, listed bool) string {
	if !listed {
		return "not checked: there is no " + manifestOf(name) +
			", and a changed text inside a record is found by nothing else"
	}
	return "matches " + manifestOf(name)
}

// aboutBackup says what is wrong with a backup. It was found in a copy, whose name says nothing to
// anybody.
func aboutBackup(err error, path, name string) error {
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), path, name)
	if !strings.Contains(text, name) {
		text = name + ": " + text
	}
	if errors.Is(err, storage.ErrMasterKey) {
		text += "; " + olderKey
	}
	return errors.New(text)
}

// check opens a database, reads all that has a list and follows the audit trail, so that
// damage is met now.
func (h Opener) check(ctx context.Context, conf *config.Config, f *folder.Folder, path string) error {
	target, held, err := h.Try(ctx, conf, f, path)
	if err != nil {
		return err
	}
	_, users := allUsers(ctx, target.Store)
	_, apps := everything(func(from string) ([]storage.App, string, error) {
		return target.Store.Apps(ctx, "", from, driver.Page)
	})
	_, keys := target.Store.SigningKeys(ctx)
	_, settings := target.Store.Settings(ctx)
	trail, broken := audit.Verify(ctx, target.Store)
	return errors.Join(users, apps, keys, settings, broken, trail.Err(), held.Close())
}
