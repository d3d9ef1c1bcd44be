package command

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

func TestHealthAsksTheServiceThatTheConfigurationNames(t *testing.T) {
	s := start(t, t.TempDir())
	if said := must(t, "health", "--listen", s.address); said["ready"] != true || said["address"] != s.address {
		t.Errorf("of a service that is ready: %v", said)
	}
	if said := must(t, "health", "--data", s.data); said["address"] != s.address {
		t.Errorf("of the service that has a data folder: %v", said)
	}
	s.stop()
	wantFailure(t, 1, "no service answers at "+s.address+": start it, or name its address with --listen", "health",
		"--listen", s.address)
}

func TestHealthFailsWhileAServiceIsNotReady(t *testing.T) {
	asked := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		http.Error(w, "the store is away", http.StatusServiceUnavailable)
	}))
	defer s.Close()
	wantFailure(t, 1, "is not ready: 503 Service Unavailable the store is away", "health", "--listen",
		s.Listener.Addr().String())
	if asked != "/healthz/ready" {
		t.Errorf("it asks for %s", asked)
	}
}

func TestHealthAsksThisMachineWhereAllOfItListens(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:8080": "127.0.0.1:8080", ":8080": "127.0.0.1:8080", "[::]:8080": "127.0.0.1:8080",
		"192.0.2.1:8080": "192.0.2.1:8080", "localhost:80": "localhost:80",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("%s is asked at %s, want %s", listen, got, want)
		}
	}
}

// emptyTopic is a line of a list of commands that has nothing behind the name.
var emptyTopic = regexp.MustCompile(`(?m)^  [a-z]+ *$`)

// A reader of the help finds out what each word is for.
func TestTopicOfTheHelpHasASummary(t *testing.T) {
	for _, words := range [][]string{{"help"}, {"help", "capability"}} {
		_, out, _ := command(t, "", words...)
		if found := emptyTopic.FindString(out); found != "" || len(out) < 500 {
			t.Errorf("keystile %q explains nothing of %q:\n%s", words, found, out)
		}
	}
}
