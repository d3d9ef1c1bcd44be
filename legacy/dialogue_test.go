package legacy_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/dialogue"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/storage"
)

// Entries 46, 47 and 48 of the decisions. Bubbles begin at midnight UTC 2000-01-01, Unix
// time 946684800, which the signatures in the files are made for.
func TestDialogues(t *testing.T) {
	proven := map[string]bool{}
	files, _ := filepath.Glob("testdata/dialogues/*.txt")
	for _, file := range files {
		for _, d := range must(dialogue.Read(file))(t) {
			t.Run(d.Title, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHouse(t, func(c *legacy.Config) {
						if strings.Contains(file, "mapped") {
							c.ErrorStatus = legacy.Mapped
						}
					})
					h.mux.Handle("/test/", backstage(h))
					d.Play(t, h.mux, issuer, map[string]string{
						"appkey": appKey, "other_key": h.other.AppKey().Reveal(), "session": h.session, "origin": issuer, "password": password,
					})
				})
			})
			for _, row := range d.Rows {
				proven[row] = true
			}
		}
	}
	for line := range strings.Lines(string(must(os.ReadFile("testdata/rows.txt"))(t))) {
		row := strings.TrimSpace(line)
		if row != "" && row[0] != '#' && !proven[row] {
			t.Errorf("no dialogue proves the row %s", row)
		}
		delete(proven, row)
	}
	for _, row := range slices.Sorted(maps.Keys(proven)) {
		t.Errorf("a dialogue claims the row %s, which rows.txt does not list", row)
	}
}

// backstage is what dialogues may do that no client can: change application 1000.
func backstage(h *house) http.Handler {
	changes := map[string]func(*storage.App){
		"zero":     func(a *storage.App) { a.LegacySuccessCode = new(0) },
		"nested":   func(a *storage.App) { a.LegacyNested = true },
		"sign":     func(a *storage.App) { a.ForbidPlainKey = true },
		"disabled": func(a *storage.App) { a.Disabled = true },
	}
	return reply.NewMux(nil, reply.Route{Path: "/test/app", Methods: []string{"POST"}, Handle: func(w http.ResponseWriter, r *http.Request) error {
		changes[r.URL.Query().Get("set")](&h.app)
		var err error
		h.app, err = h.store.SaveApp(context.Background(), h.app)
		w.WriteHeader(http.StatusNoContent)
		return err
	}})
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
