package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What tools may be called at in the private network is no leave to tell applications there, and what applications
// are told at is none for anything else.
func TestEachListOfPrivateAddressesAnswersOneQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag string
		told bool
	}{{"--upstreams-allow-private", false}, {"--user-events-allow-private", false}, {"--mcp-allow-client-hosts", false}, {"--logout-allow-private", true}} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			posted := make(chan string, 8)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { posted <- r.FormValue("logout_token") }))
			defer receiver.Close()
			s := start(t, t.TempDir(), c.flag, "127.0.0.0/8")
			app := firstRunOf(t, s.data).App.ClientID
			must(t, "app", "set", app, "--add-domain", "127.0.0.1", "--backchannel-logout-uri", receiver.URL+"/out", "--data", s.data)
			redeem(t, s, authorize(t, s), 200)
			must(t, "session", "end", "admin", "--data", s.data)
			for {
				select {
				case <-posted:
					if !c.told {
						t.Fatal("the application was told in the private network")
					}
					return
				case <-time.After(20 * time.Millisecond):
				}
				_, out, _ := command(t, "", "webhook", "list", "--app", app, "--json", "--data", s.data)
				if refused := strings.Contains(out, "address not allowed"); refused && c.told {
					t.Fatalf("it is refused: %s", out)
				} else if refused {
					return
				}
			}
		})
	}
}
