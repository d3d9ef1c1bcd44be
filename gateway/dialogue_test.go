package gateway_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/dialogue"
	"github.com/keystile/keystile/storage"
)

func TestDialogues(t *testing.T) {
	files := must(filepath.Glob("testdata/dialogues/*.txt"))(t)
	proven := map[string]bool{}
	for _, file := range files {
		for _, d := range must(dialogue.Read(file))(t) {
			t.Run(d.Title, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h, values := stage(t)
					d.Play(t, h, issuer, values)
				})
			})
			for _, row := range d.Rows {
				proven[row] = true
			}
		}
	}
	covers(t, proven)
}

// covers fails unless each row of rows.txt is proven by a dialogue and no dialogue claims
// a row that is not there. Rows marked later are counted and wait.
func covers(t *testing.T, proven map[string]bool) {
	t.Helper()
	listed, covered := 0, 0
	for line := range strings.Lines(string(must(os.ReadFile("testdata/rows.txt"))(t))) {
		row, later, _ := strings.Cut(strings.TrimSpace(line), " ")
		if row == "" || row[0] == '#' {
			continue
		}
		listed++
		switch {
		case proven[row]:
			covered++
		case later != "later":
			t.Errorf("no dialogue proves the row %s", row)
		}
		delete(proven, row)
	}
	for _, row := range slices.Sorted(maps.Keys(proven)) {
		t.Errorf("a dialogue claims the row %s, which rows.txt does not list", row)
	}
	fmt.Printf("note: specification rows covered by the gateway: %d of %d\n", covered, listed)
}

// stage is the house as dialogues find it: an application of each tier, with a token.
func stage(t *testing.T) (http.Handler, map[string]string) {
	h := newHouse(t)
	h.mux.Handle("/payment/", h.gateway.Guard(gateway.Payment, http.HandlerFunc(service)))
	h.mux.HandleFunc("/test/trail", func(w http.ResponseWriter, r *http.Request) {
		for _, record := range must(h.store.Records(r.Context(), 0, 100))(t) {
			fmt.Fprintf(w, "%s\n", record.Data)
		}
	})
	enterprise := must(h.store.SaveApp(t.Context(), storage.App{Name: "Big", Domains: []string{"big.example.com"}, Tier: storage.TierEnterprise}))(t)
	return h.handler, map[string]string{
		"client_id": h.app.ID, "client_secret": h.app.AppKey().Reveal(), "token": h.bearer(h.app),
		"white_label_id": h.other.ID, "white_label_secret": h.other.AppKey().Reveal(), "white_label_token": h.bearer(h.other),
		"enterprise_token": h.bearer(enterprise),
	}
}
