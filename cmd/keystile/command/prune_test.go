package command

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/event"
)

// varies matches the parts of the output that differ each time.
var varies = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z|\b\d+\b`)

func TestOperatorRemovesOldAuditRecords(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	before := verified(t, data)
	for _, running := range []bool{true, false} {
		if !running {
			s.stop()
		}
		for range 3 {
			must(t, "app", "create", "--name", "Shop", "--domain", "shop.example", "--data", data)
		}
		heads := []string{"--head", verified(t, data).Heads[0]}
		code, out, errs := command(t, "", "audit", "prune", "--keep", "1ms", "--dry-run", "--data", data)
		want := "would_remove  N\nbefore        N\nthrough_seq   N\nfrom          N\nto            N\nbytes         N\n" +
			"breaks        N\n"
		if got := varies.ReplaceAllString(out, "N"); code != 0 || got != want {
			t.Errorf("running %t: a dry run = %d %q %s, want %q", running, code, got, errs, want)
		}
		records := verified(t, data, heads...).Records
		done := must(t, "audit", "prune", "--keep", "1ms", "--data", data)
		after := verified(t, data, heads...)
		if done["removed"].(float64) == 0 || after.Records >= records || after.Records > 4 {
			t.Errorf("running %t: it removed %v, and %d records are left of %d", running, done, after.Records, records)
		}
		_, text, _ := command(t, "", "audit", "export", "--data", data)
		if !strings.Contains(text, `"kind":"admin"`) || !strings.Contains(text, "audit prune trail by command line, uid ") {
			t.Errorf("running %t: the trail does not say who has removed what: %s", running, text)
		}
	}
	code, out, _ := command(t, "", "audit", "verify", "--head", before.Heads[0], "--data", data)
	for _, want := range []string{"whole                true\n", "breaks\n", "removed_through_seq  "} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("verify = %d\n%s\nwant %q", code, out, want)
		}
	}
	if _, out, _ := command(t, "", "audit", "verify", "--json", "--data", data); !strings.Contains(out, `"breaks":[]`) || !strings.Contains(out, `"unended":[`) {
		t.Errorf("as JSON: %s", out)
	}
	wantFailure(t, 2, "say what to remove", "audit", "prune", "--data", data)
	wantFailure(t, 2, "say what to remove", "audit", "prune", "--keep", "400d", "--before", "2026-01-01", "--data", data)
	wantFailure(t, 2, "has not come yet", "audit", "prune", "--before", "2999-01-01", "--data", data)
	wantFailure(t, 2, "a unit: d, h, m or s", "audit", "prune", "--keep", "400", "--data", data)
}

// Records beyond the limit are removed without a command, and the rest verifies.
func TestTrailIsAsLargeAsTheSettingSays(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 16 MiB")
	}
	t.Parallel()
	const records = 20_000
	data := t.TempDir()
	start(t, data).stop()
	remember(t, data, records, strings.Repeat("x", 1_000))
	start(t, data, "--audit-max-size", "0").stop()
	if got := verified(t, data).Records; got < records {
		t.Errorf("without a limit %d records are left of %d", got, records)
	}
	s := start(t, data, "--audit-max-size", "16MiB")
	s.log.Find(t, s.ended, "(old audit records were removed)")
	s.stop()
	if got := verified(t, data).Records; got >= records {
		t.Errorf("%d records are left of %d", got, records)
	}
}

// remember puts events on the trail of a service that is stopped.
func remember(t *testing.T, data string, n int, detail string) {
	t.Helper()
	file, err := bolt.Open(filepath.Join(data, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	trail, err := audit.Open(t.Context(), audit.Config{Store: file})
	for i := 0; err == nil && i < n; i++ {
		e := event.Event{Kind: event.Call, App: "shop", Detail: detail}
		if i%1000 < 999 && i < n-1 {
			trail.Note(e)
		} else {
			err = trail.NoteNow(t.Context(), e)
		}
	}
	if err == nil {
		err = trail.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
