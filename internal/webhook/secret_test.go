package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// Every way an attempt can end, with a store that fails on top, and a URL whose query is
// a key.
func TestWebhookSecretAndAddressAreInNeitherLogNorStore(t *testing.T) {
	refused := &netguard.Refused{Why: "private"}
	for name, answer := range map[string]func(call, *http.Request) (*http.Response, error){
		"200":         always(http.StatusOK),
		"410":         always(http.StatusGone),
		"500":         always(http.StatusInternalServerError, "X", "ANSWER-SECRET"),
		"redirect":    always(http.StatusFound, "Location", "http://10.9.8.7/"),
		"refused":     failing(refused),
		"connection":  failing(errors.New("dial tcp 10.9.8.7:80: connection refused")),
		"certificate": failing(&tls.CertificateVerificationError{Err: errors.New("10.9.8.7 is not it")}),
		"hangs":       hangs,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.answer = answer
			h.change("m", "e1")
			store := &faulty{Store: h.store}
			s := h.sender(func(c *Config) { c.Store = store })
			time.Sleep(40 * time.Hour)
			store.set(func(string) error { return errAway }, nil)
			s.Wake()
			time.Sleep(time.Hour)
			h.close(s)
			var shown strings.Builder
			shown.WriteString(h.log.String())
			for _, d := range h.queued("m") {
				shown.WriteString(d.LastError)
				fmt.Fprintf(&shown, "%v %+v %#v %s", d.Secret, d.Secret, d.Secret, d.Secret)
			}
			for _, secret := range []string{hookSecret, "HOOK-SECRET", "SE9PSy1T", "URL-SECRET", "ANSWER-SECRET", "10.9.8.7",
				"hook.example"} {
				if strings.Contains(shown.String(), secret) {
					t.Errorf("%s: %s is shown in %s", name, secret, shown.String())
				}
			}
			if !strings.Contains(h.log.String(), "member=m") {
				t.Errorf("%s: the log does not tell of it", name)
			}
		})
	}
}

func failing(err error) func(call, *http.Request) (*http.Response, error) {
	return func(call, *http.Request) (*http.Response, error) { return nil, err }
}

func TestOwnerReadsWhyInAFewFixedWords(t *testing.T) {
	for want, answer := range map[string]func(call, *http.Request) (*http.Response, error){
		"the answer was 302":                         always(http.StatusFound, "Location", "https://elsewhere.example/"),
		"address not allowed":                        failing(&netguard.Refused{}),
		"no connection":                              failing(errors.New("some reason")),
		"the certificate is not valid for this host": failing(&tls.CertificateVerificationError{Err: errors.New("x")}),
		"no answer in time":                          failing(&url.Error{Op: "Post", Err: context.DeadlineExceeded}),
		"the answer was 429":                         always(http.StatusTooManyRequests),
	} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.answer = answer
			h.change("m", "e1")
			s := h.sender()
			synctest.Wait()
			h.close(s)
			if d := h.queued("m")[0]; d.LastError != want || d.Attempts != 1 {
				t.Errorf("the delivery says %q after %d attempts, want %q after 1", d.LastError, d.Attempts, want)
			}
			h.wantArrived("e1")
		})
	}
}

func TestURLThatCannotBeParsedIsAFailureLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		d := storage.Delivery{Event: "e1", URL: "http://[::1", Payload: []byte(`"e1"`)}
		if _, err := h.store.SaveCapability(t.Context(), storage.Capability{Member: "m"}, nil, d); err != nil {
			t.Fatal(err)
		}
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		if d := h.queued("m")[0]; d.LastError != "the URL cannot be read" || !d.Waiting() {
			t.Errorf("in the store: %+v", d)
		}
	})
}
