package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
)

func TestFormIsGoodOnceForItsSessionItsPageAndAnHour(t *testing.T) {
	store, err := storage.Open(t.Context(), backend.New(t), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	use := func(id, session, path string, at time.Time) error {
		return useFormID(t.Context(), store, id, session, path, at)
	}
	id := newFormID("session", "/console/apps", now)
	for name, err := range map[string]error{
		"no id":              use("", "session", "/console/apps", now),
		"no base64":          use("***", "session", "/console/apps", now),
		"a short one":        use(id[:20], "session", "/console/apps", now),
		"a long one":         use(id+"AAAA", "session", "/console/apps", now),
		"of another session": use(id, "other", "/console/apps", now),
		"of another page":    use(id, "session", "/console/users", now),
		"a changed one":      use(strings.ToUpper(id), "session", "/console/apps", now),
		"an hour later":      use(id, "session", "/console/apps", now.Add(time.Hour)),
		"before it was made": use(id, "session", "/console/apps", now.Add(-time.Hour)),
	} {
		if !errors.Is(err, staleForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := use(id, "session", "/console/apps", now.Add(50*time.Minute)); err != nil {
		t.Errorf("the first time: %v", err)
	}
	if err := use(id, "session", "/console/apps", now.Add(51*time.Minute)); !errors.Is(err, usedForm) {
		t.Errorf("the second time: %v", err)
	}
	if err := use(newFormID("session", "/console/apps", now), "session", "/console/apps", now); err != nil {
		t.Errorf("another form: %v", err)
	}
}
