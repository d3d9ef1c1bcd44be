package reply_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// A client that asks for too much is refused a million times, and fills no log.
func TestRefusalsOfACrowdAreOneLineInAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		full := &reply.Failure{Status: http.StatusServiceUnavailable, Msg: "come again",
			Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}
		refuse := func() {
			w := serve(t, &log, httptest.NewRequest("GET", "/x", nil), func(http.ResponseWriter, *http.Request) error {
				return full.With("Retry-After", "2").Because(storage.ErrUnavailable)
			})
			if w.Code != 503 || w.Header().Get("Retry-After") != "2" {
				t.Fatalf("refused with %d %v", w.Code, w.Header())
			}
		}
		for range 1000 {
			refuse()
		}
		if out := log.String(); strings.Count(out, "\n") != 1 || !strings.Contains(out, "level=WARN") ||
			!strings.Contains(out, "refused=1 ") {
			t.Errorf("a thousand refusals are logged as %q", out)
		}
		time.Sleep(time.Minute)
		log.Reset()
		refuse()
		if out := log.String(); strings.Count(out, "\n") != 1 || !strings.Contains(out, "refused=1000 ") {
			t.Errorf("after a minute, with 1000 since the last line: %q", out)
		}
	})
}
