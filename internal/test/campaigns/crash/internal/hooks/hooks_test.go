package hooks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/crash/internal/hooks"
)

const (
	made = "capability.registered"
	gone = "capability.removed"
)

func body(event string, tools int) []byte {
	return fmt.Appendf(nil, `{"type":%q,"timestamp":"2026-11-22T17:00:00Z","data":{"member":"c1","kind":"static","tool_count":%d}}`, event, tools)
}

func TestReceiverKnowsWhatShouldHaveCome(t *testing.T) {
	for _, c := range []struct {
		name, wrong string // "": nothing is
		missing     int
		do          func(*hooks.Receiver)
	}{
		{"all of it, one of it twice", "", 0, func(r *hooks.Receiver) {
			r.Take("1", body(made, 1))
			r.Take("1", body(made, 1))
			r.Take("2", body(gone, 1))
		}},
		{"what has not come yet", "", 1, func(r *hooks.Receiver) { r.Take("1", body(made, 1)) }},
		{"the second alone", "what happened is", 0, func(r *hooks.Receiver) { r.Take("2", body(gone, 1)) }},
		{"another change than there was", "what happened is", 0, func(r *hooks.Receiver) { r.Take("1", body(made, 2)) }},
		{"more than happened", "what happened is", 0, func(r *hooks.Receiver) {
			r.Take("1", body(made, 1))
			r.Take("2", body(gone, 1))
			r.Take("3", body(made, 3))
		}},
		{"one event under two ids", "two ids", 0, func(r *hooks.Receiver) {
			r.Take("1", body(made, 1))
			r.Take("9", body(made, 1))
		}},
		{"two events under one id", "under the id 1", 0, func(r *hooks.Receiver) {
			r.Take("1", body(made, 1))
			r.Take("1", body(gone, 1))
		}},
		{"an event without an id", "no event", 2, func(r *hooks.Receiver) { r.Take("", body(made, 1)) }},
		{"what is none", "no event", 2, func(r *hooks.Receiver) { r.Take("1", []byte("hello")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := listening(t)
			r.Expect("c1", made, 1)
			r.Expect("c1", gone, 1)
			c.do(r)
			wrong := strings.Join(r.Check(), "; ")
			if c.wrong == "" && wrong != "" || !strings.Contains(wrong, c.wrong) {
				t.Errorf("it says %q, want %q", wrong, c.wrong)
			}
			missing := r.Wait(0)
			if c.wrong == "" && (len(missing) > 0) != (c.missing > 0) {
				t.Errorf("it misses %q, want %d", missing, c.missing)
			}
		})
	}
}

func TestReceiverListens(t *testing.T) {
	r := listening(t)
	r.Expect("c1", made, 1)
	q, err := http.NewRequest(http.MethodPost, r.URL(), strings.NewReader(string(body(made, 1))))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("webhook-id", "1")
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	expected, arrived, repeated := r.Counts()
	if wrong := r.Check(); resp.StatusCode != http.StatusNoContent || len(wrong)+len(r.Missing()) > 0 || expected != 1 ||
		arrived != 1 || repeated != 0 {
		t.Errorf("%d; it says %q, misses %q, counts %d, %d, %d", resp.StatusCode, wrong, r.Missing(), expected, arrived,
			repeated)
	}
}

func listening(t *testing.T) *hooks.Receiver {
	t.Helper()
	r, err := hooks.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
