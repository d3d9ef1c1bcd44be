package mcpbus

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// A call ends when its capability says so, and by no limit that the connection has beside.
func TestMCPConnectionIsAsPatientAsACall(t *testing.T) {
	u, err := NewUpstreams(UpstreamsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close(context.Background())
	if has := u.dialer.Client(0).Transport.(*http.Transport).ResponseHeaderTimeout; has < storage.MaxTimeout {
		t.Errorf("an answer's header is waited for %v, and a call may take %v", has, storage.MaxTimeout)
	}
}

func TestCallHasTheTimeOfItsCapability(t *testing.T) {
	for seconds, want := range map[int]time.Duration{0: 30 * time.Second, 90: 90 * time.Second, 600: 10 * time.Minute} {
		c := storage.Capability{Member: "slow", UpstreamURL: "https://slow.example.com", Timeout: seconds}
		if rest, named := restUpstream(c).Timeout, mcpUpstream(c).Timeout; rest != want || named != want {
			t.Errorf("of a timeout of %d s, calls by HTTP have %v and calls by name %v, want %v", seconds, rest, named, want)
		}
	}
}
