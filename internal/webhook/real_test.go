package webhook

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/test/webhooktest"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
)

// settled is a store that says when an outcome has been stored.
type settled struct {
	Store
	outcomes chan storage.Delivery
}

func (s settled) SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error) {
	d, err := s.Store.SaveDelivery(ctx, d)
	if err == nil && d.LastError != "" {
		s.outcomes <- d
	}
	return d, err
}

func (s settled) DeleteDelivery(ctx context.Context, d storage.Delivery) error {
	err := s.Store.DeleteDelivery(ctx, d)
	if err == nil {
		s.outcomes <- d
	}
	return err
}

// guarded makes a sender with a guarded client.
func guarded(t *testing.T, h *fixture, allow ...string) chan storage.Delivery {
	t.Helper()
	g, err := netguard.New(netguard.Config{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan storage.Delivery, 1)
	s := h.sender(func(c *Config) {
		c.Store, c.Client = settled{h.store, outcomes}, &http.Client{Transport: g.Transport()}
	})
	t.Cleanup(func() {
		h.close(s)
		g.Close(context.Background())
	})
	return outcomes
}

func (h *fixture) announce(event string, c storage.Capability) storage.Capability {
	h.Helper()
	events, err := Events(event, c)
	if err == nil {
		c, err = h.store.SaveCapability(context.Background(), c, nil, events...)
	}
	if err != nil {
		h.Fatal(err)
	}
	return c
}

func TestReceiverVerifiesWhatARegistrationSent(t *testing.T) {
	verdict := make(chan error, 2)
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		verdict <- webhooktest.Verify(hookSecret, r.Header, body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	h := built(t)
	c := storage.Capability{Member: "pets", Kind: storage.CapabilityMCP, WebhookURL: server.URL + "/hook",
		WebhookSecret: storage.NewSecret(hookSecret)}
	h.announce(Registered, c)
	outcomes := guarded(t, h, strings.TrimPrefix(server.URL, "http://"))
	if err := <-verdict; err != nil || !strings.Contains(string(body), `"data":{"member":"pets","kind":"mcp","tool_count":0}`) {
		t.Errorf("the receiver got %s: %v", body, err)
	}
	<-outcomes
	h.wantQueued("pets", 0)
}

func TestAddressInsideIsNotReached(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("the inside was reached")
	}))
	defer server.Close()
	h := built(t)
	h.announce(Registered, storage.Capability{Member: "m", WebhookURL: server.URL})
	d := <-guarded(t, h)
	if d.LastError != "address not allowed" || d.LastStatus != 0 || !d.Waiting() {
		t.Errorf("in the store: %+v, want a neutral failure", d)
	}
	if !strings.Contains(h.log.String(), "loopback") {
		t.Error("the operator does not learn what kind of address it was")
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Error("the redirect was followed")
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	h := built(t)
	h.announce(Registered, storage.Capability{Member: "m", WebhookURL: server.URL + "/"})
	if d := <-guarded(t, h, strings.TrimPrefix(server.URL, "http://")); d.LastStatus != http.StatusTemporaryRedirect {
		t.Errorf("in the store: %+v, want a failure with 307", d)
	}
}

// The child sends; the parent, which is the receiver, kills it before it has the answer.
func TestKilledProcessLosesNoEvent(t *testing.T) {
	const folder = "KEYSTILE_KILLED_IN"
	if dir := os.Getenv(folder); dir != "" {
		sendUntilKilled(t, dir)
	}
	dir := t.TempDir()
	arrived, killed := make(chan string), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.Header.Get("webhook-id")
		<-killed
	}))
	defer server.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledProcessLosesNoEvent$", "-test.timeout=1m")
	child.Env = append(os.Environ(), folder+"="+dir, folder+"_HOOK="+server.URL)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- child.Wait() }()
	var id string
	select {
	case id = <-arrived:
	case err := <-exited:
		t.Fatalf("the child ended by itself: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-exited
	close(killed)

	h := &fixture{T: t, store: onDisk(t, dir)}
	d := h.queued("m")[0]
	if d.ID != id || d.Attempts != 1 || !d.NextAt.After(time.Now()) {
		t.Fatalf("after the kill the store holds %+v, want %s under a lease", d, id)
	}
	d.NextAt = time.Now() // as if its minute were over
	if _, err := h.store.SaveDelivery(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan storage.Delivery, 1)
	s := h.sender(func(c *Config) { c.Store = settled{h.store, outcomes} })
	<-outcomes
	<-outcomes
	h.close(s)
	calls := h.got()
	if len(calls) != 2 || calls[0].id != id || calls[0].event != "e1" || calls[1].event != "e2" {
		t.Errorf("%+v arrived in the next life, want %s again and then e2", calls, id)
	}
	h.wantQueued("m", 0)
}

func onDisk(t *testing.T, dir string) *storage.Store {
	t.Helper()
	backend, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	key, err := storage.ParseMasterKey("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	store, err := storage.Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func sendUntilKilled(t *testing.T, dir string) {
	h := &fixture{T: t, store: onDisk(t, dir)}
	for _, e := range []string{"e1", "e2"} {
		c, _ := h.store.Capability(t.Context(), "m")
		c.Member = "m"
		d := storage.Delivery{Event: e, URL: os.Getenv("KEYSTILE_KILLED_IN_HOOK"), Payload: []byte(`"` + e + `"`)}
		if _, err := h.store.SaveCapability(t.Context(), c, nil, d); err != nil {
			t.Fatal(err)
		}
	}
	h.sender(func(c *Config) { c.Client = http.DefaultClient })
	select {}
}
