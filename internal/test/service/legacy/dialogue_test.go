package legacy_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/dialogue"
	"github.com/keystile/keystile/internal/test/openapitest"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// Decisions 46, 47 and 48. Bubbles begin at midnight UTC 2000-01-01, Unix
// time 946684800, which the signatures in the files are made for.
func TestDialogues(t *testing.T) {
	document := openapitest.New(t, new(legacy.Legacy).OpenAPI())
	dialogue.Prove(t, issuer, func(t *testing.T, file string) (http.Handler, map[string]string) {
		backends, settle := backend.Nodes(t)
		key, counter := storage.NewMasterKey(), counters.New().Counter()
		var nodes []http.Handler
		var h *fixture // the first
		for _, b := range backends {
			n := newNode(t, b, key, func(c *legacy.Config) {
				if strings.Contains(file, "mapped") {
					c.ErrorStatus = legacy.Mapped
				}
				if len(backends) > 1 {
					c.Counter = counter
				}
			})
			if h == nil {
				h = n
				h.people()
			}
			nodes = append(nodes, n.mux)
			n.mux.Handle("/test/", backstage(h))
		}
		return document.Watch(t, dialogue.Nodes(settle, nodes...)), map[string]string{
			"appkey": appKey, "other_key": h.other.AppKey().Reveal(), "session": h.session, "origin": issuer,
			"password": password,
		}
	})
	document.SawEverything(t)
}

// backstage holds the commands of dialogues that no client has: they change application 1000.
func backstage(h *fixture) http.Handler {
	changes := map[string]func(*storage.App){
		"zero":     func(a *storage.App) { a.LegacySuccessCode = new(0) },
		"nested":   func(a *storage.App) { a.LegacyNested = true },
		"sign":     func(a *storage.App) { a.ForbidPlainKey = true },
		"disabled": func(a *storage.App) { a.Disabled = true },
	}
	return reply.NewMux(nil, reply.Route{Path: "/test/app", Methods: []string{"POST"},
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			changes[r.URL.Query().Get("set")](&h.app)
			var err error
			h.app, err = h.store.SaveApp(context.Background(), h.app)
			w.WriteHeader(http.StatusNoContent)
			return err
		}})
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
