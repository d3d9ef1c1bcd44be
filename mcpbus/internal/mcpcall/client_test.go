package mcpcall

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

func TestClientNeedsATransport(t *testing.T) {
	c, err := New(Config{MaxAnswer: -1, MaxPage: -1, MaxPages: -1, MaxTools: -1, MaxPeers: -1, CallTimeout: -1,
		DiscoverTimeout: -1})
	if c != nil || err == nil {
		t.Fatalf("New() = %v, %v, want an error", c, err)
	}
	for _, piece := range []string{"Transport", "MaxAnswer", "MaxPage ", "MaxPages", "MaxTools", "MaxPeers", "CallTimeout",
		"DiscoverTimeout"} {
		if !strings.Contains(err.Error(), piece) {
			t.Errorf("New() = %v, want it to name %s", err, piece)
		}
	}
}

// client makes a Client that may reach servers of tests.
func client(t testing.TB, c Config) *Client {
	t.Helper()
	if c.Transport == nil {
		g, err := netguard.New(netguard.Config{Allow: []string{"127.0.0.1"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close(t.Context()) })
		c.Transport = g.Transport()
	}
	client, err := New(c)
	if err != nil {
		t.Fatalf("New() = %v, want no error", err)
	}
	t.Cleanup(func() { client.Close(context.WithoutCancel(t.Context())) })
	return client
}

// settle waits for what runs in the background.
func settle(c *Client) {
	for range cap(c.background.slots) {
		c.background.slots <- struct{}{}
	}
	for range cap(c.background.slots) {
		<-c.background.slots
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// texts joins the text blocks of a result.
func texts(r Result) string {
	var out []string
	for _, block := range r.Content {
		var b struct{ Text string }
		json.Unmarshal(block, &b)
		out = append(out, b.Text)
	}
	return strings.Join(out, "\n")
}

func secret(text string) storage.Secret { return storage.NewSecret(text) }
