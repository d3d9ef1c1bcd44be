package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const hookSecret = "whsec_SE9PSy1TRUNSRVQ="

// call holds what a receiver got.
type call struct {
	at     time.Time
	event  string
	id     string
	header http.Header
	url    string
}

// receiver is the other end of a client, and counts who is there at a time.
type receiver struct {
	answer func(c call, r *http.Request) (*http.Response, error) // nil: 200

	mu         sync.Mutex
	calls      []call
	busy, most int
}

func (v *receiver) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c := call{time.Now(), strings.Trim(string(body), `"`), r.Header.Get("webhook-id"), r.Header, r.URL.String()}
	v.mu.Lock()
	v.calls = append(v.calls, c)
	v.busy++
	v.most = max(v.most, v.busy)
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.busy--
	}()
	if v.answer == nil {
		return events(http.StatusOK), nil
	}
	return v.answer(c, r)
}

func events(status int, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("thanks"))}
}

// always answers with one status.
func always(status int, header ...string) func(call, *http.Request) (*http.Response, error) {
	return func(call, *http.Request) (*http.Response, error) { return events(status, header...), nil }
}

// hangs answers nothing but the end of the request.
func hangs(_ call, r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// events lists what arrived, in order.
func (v *receiver) events() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, c := range v.calls {
		out = append(out, c.event)
	}
	return strings.Join(out, " ")
}

// got returns a copy of what arrived.
func (v *receiver) got() []call {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.calls)
}

// page is a log.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// fixture is a store, a receiver and a log.
type fixture struct {
	*testing.T
	store *storage.Store
	receiver
	log page
}

func built(t *testing.T) *fixture {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{T: t, store: store}
}

// change queues events of a capability's changes.
func (h *fixture) change(member string, events ...string) {
	h.Helper()
	for _, e := range events {
		c, err := h.store.Capability(context.Background(), member)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			h.Fatal(err)
		}
		c.Member = member
		d := storage.Delivery{Event: e, URL: "https://hook.example/" + member + "?key=URL-SECRET", Secret: storage.NewSecret(hookSecret), Payload: []byte(`"` + e + `"`)}
		if _, err := h.store.SaveCapability(context.Background(), c, nil, d); err != nil {
			h.Fatal(err)
		}
	}
}

// sender starts one, with debug log.
func (h *fixture) sender(change ...func(*Config)) *Sender {
	h.Helper()
	c := Config{Store: h.store, Client: &http.Client{Transport: h},
		Log: slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		h.Fatalf("New() = %v, want no error", err)
	}
	return s
}

func (h *fixture) close(s *Sender) {
	h.Helper()
	if err := s.Close(context.Background()); err != nil {
		h.Errorf("Close() = %v, want no error", err)
	}
}

// queued lists the deliveries of a member.
func (h *fixture) queued(member string) []storage.Delivery {
	h.Helper()
	list, err := h.store.Deliveries(context.Background(), member)
	if err != nil {
		h.Fatal(err)
	}
	return list
}

func (h *fixture) wantArrived(want string) {
	h.Helper()
	if got := h.events(); got != want {
		h.Errorf("%q arrived, want %q", got, want)
	}
}

func (h *fixture) wantQueued(member string, want int) {
	h.Helper()
	if got := h.queued(member); len(got) != want {
		h.Errorf("%d deliveries of %s are in the store, want %d: %+v", len(got), member, want, got)
	}
}
