package powercut

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// world is one image, opened.
type world struct {
	context.Context
	root, data, backup string
	store              *storage.Store
	revoked            []driver.Revocation
}

// use opens the store of an image that no server has open.
func (w *world) use(do func() error) error {
	text, err := os.ReadFile(filepath.Join(w.data, "master.key"))
	if err != nil {
		return err
	}
	var keys []storage.MasterKey
	for row := range strings.Lines(string(text)) {
		key, err := storage.ParseMasterKey(row)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	backend, err := bolt.Open(filepath.Join(w.data, "keystile.db"), bolt.Options{})
	if err != nil {
		return err
	}
	defer backend.Close()
	if w.store, err = storage.Open(w, backend, keys...); err != nil {
		return err
	}
	if err := w.readRevocations(); err != nil {
		return err
	}
	return do()
}

func (w *world) readRevocations() error {
	for after := uint64(0); ; {
		page, err := w.store.Revocations(w, after, driver.Page)
		if err != nil || len(page) == 0 {
			return err
		}
		w.revoked = append(w.revoked, page...)
		after = page[len(page)-1].Seq
	}
}

func (w *world) trail() error {
	report, err := audit.Verify(w, w.store)
	return errors.Join(err, report.Err())
}

func (w *world) app(id string) error {
	_, err := w.store.App(w, id)
	return err
}

func (w *world) user(sub string) error {
	_, err := w.store.User(w, sub)
	return err
}

func (w *world) exchanged(spent, follows string) error {
	old, err := w.store.Token(w, handle.KeyOf(spent))
	if err == nil && old.SpentAt.IsZero() {
		err = errors.New("the token that was exchanged can be exchanged again")
	}
	if err != nil {
		return err
	}
	if _, err = w.store.Token(w, handle.KeyOf(follows)); err != nil {
		err = fmt.Errorf("the token that was handed out: %w", err)
	}
	return err
}

func (w *world) ended(jti string) error {
	for _, r := range w.revoked {
		if r.Kind == driver.RevokeJTI && r.ID == jti {
			return nil
		}
	}
	return errors.New("it is not revoked")
}

func (w *world) familyEnded(refresh string) error {
	token, err := w.store.Token(w, handle.KeyOf(refresh))
	if err != nil {
		return err
	}
	for _, r := range w.revoked {
		if r.Covers(token) {
			return nil
		}
	}
	return errors.New("it is not revoked")
}

func (w *world) sealedWith(key string) error {
	is, err := w.store.SealedWith(w)
	if err == nil && is != key {
		err = fmt.Errorf("the database is sealed with master key %s, not %s", is, key)
	}
	return err
}

// hasBackup looks that the backup is the file that its manifest tells of.
func (w *world) hasBackup() error {
	file := filepath.Join(w.root, filepath.Base(w.backup))
	text, err := os.ReadFile(file + ".manifest.json")
	if err != nil {
		return err
	}
	var m struct{ SHA256 string }
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if sum := sha256.Sum256(data); err == nil && hex.EncodeToString(sum[:]) != m.SHA256 {
		err = errors.New("it is not the file that its manifest tells of")
	}
	return err
}

// serve has the program open the image, and asks it what only it can tell.
func (w *world) serve(p programs, ask func(*serving.Client) error) error {
	s, err := serving.Start(exec.CommandContext(w, p.plain, serving.Args(w.data, p.args...)...))
	if err != nil {
		return err
	}
	defer s.End(syscall.SIGKILL)
	c, err := serving.NewClient(s.Address, w.data)
	if err != nil {
		return err
	}
	defer c.Close()
	return ask(c)
}

// counted returns how many calls an application has been charged.
func counted(c *serving.Client, bearer string) (int, error) {
	now := time.Now().UTC()
	span := url.Values{"from": {now.AddDate(0, 0, -2).Format(time.DateOnly)},
		"to": {now.AddDate(0, 0, 2).Format(time.DateOnly)}}
	a, err := c.Get("/api/v1/usage?"+span.Encode(), "Authorization", "Bearer "+bearer)
	if err != nil {
		return 0, err
	}
	var usage struct {
		Data struct{ Totals map[string]int }
	}
	if err := json.Unmarshal(a.Body, &usage); err != nil || a.Status != http.StatusOK {
		return 0, fmt.Errorf("usage is answered %v", a)
	}
	return usage.Data.Totals["ai"], nil
}

// refuses presents a token that has ended.
func refuses(c *serving.Client, p promise) error {
	if p.bearer {
		a, err := c.Get("/oauth/userinfo", "Authorization", "Bearer "+p.refused)
		if err == nil && a.Status != http.StatusUnauthorized {
			err = fmt.Errorf("a revoked access token is answered %v", a)
		}
		return err
	}
	a, err := c.Post("/oauth/token", c.Form("grant_type", "refresh_token", "refresh_token", p.refused))
	if err == nil && (a.Status != http.StatusBadRequest || a.Reply().Error != "invalid_grant") {
		err = fmt.Errorf("a token that has ended is answered %v", a)
	}
	return err
}
