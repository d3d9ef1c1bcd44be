package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// An address of the private network that is admitted for one purpose is not admitted for another: tools, applications
// that are told of the end of sessions, user events and documents of clients have a list each.
func TestListOfPrivateAddressesAnswersOneQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag           string
		logout, events bool // are sent there
	}{
		{"--upstreams-allow-private", false, false}, {"--mcp-allow-client-hosts", false, false},
		{"--logout-allow-private", true, false}, {"--user-events-allow-private", false, true},
	} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			logout, events := newReceiver(t), newReceiver(t)
			s := start(t, t.TempDir(), c.flag, "127.0.0.0/8")
			app := firstRunOf(t, s.data).App.ClientID
			must(t, "webhook", "set", "--url", events.URL, "--data", s.data)
			must(t, "app", "set", app, "--add-domain", "127.0.0.1", "--backchannel-logout-uri", logout.URL+"/out", "--data",
				s.data)
			redeem(t, s, authorize(t, s), 200)
			must(t, "session", "end", "admin", "--data", s.data)
			must(t, "user", "create", "--username", "ada", "--password", "correct-horse-battery", "--data", s.data)
			if got := logout.told(t, s, "--app", app); got != c.logout {
				t.Errorf("the application was told: %t", got)
			}
			if got := events.told(t, s); got != c.events {
				t.Errorf("the receiver of user events was told: %t", got)
			}
		})
	}
}

// receiver is a server of this machine that is told something.
type receiver struct {
	*httptest.Server
	posted chan struct{}
}

func newReceiver(t *testing.T) receiver {
	t.Helper()
	r := receiver{posted: make(chan struct{}, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { r.posted <- struct{}{} }))
	t.Cleanup(r.Close)
	return r
}

// told waits until the receiver has been told, or the list of what waits says that it may not be.
func (r receiver) told(t *testing.T, s *service, list ...string) bool {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case <-r.posted:
			return true
		case <-late:
			t.Fatal("it is neither told nor refused")
		case <-time.After(20 * time.Millisecond):
		}
		_, out, _ := command(t, "", append([]string{"webhook", "list", "--json", "--data", s.data}, list...)...)
		if strings.Contains(out, "address not allowed") {
			return false
		}
	}
}
