// Package hooks receives webhooks and knows what should have come: each event at least once,
// under one id however often, and those of a capability in their order.
package hooks

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Event is one change of a capability, as far as it is told.
type Event struct {
	Type  string
	Tools int
}

// Receiver is a server of webhooks, and what is expected of them.
type Receiver struct {
	server *http.Server
	url    string

	mu       sync.Mutex
	ids      map[string]string // webhook-id: the whole event
	sent     map[string]string // the whole event: its webhook-id
	members  map[string]*member
	open     map[string]*member // of these something has not come
	arrived  int                // deliveries, repeated ones too
	repeated int
	wrong    []string
}

// member is one capability.
type member struct{ expected, came []Event }

// New makes a receiver that listens on an address of its own.
func New() (*Receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{
		url: "http://" + listener.Addr().String() + "/hook", ids: map[string]string{}, sent: map[string]string{},
		members: map[string]*member{}, open: map[string]*member{},
	}
	r.server = &http.Server{Handler: http.HandlerFunc(r.receive), ReadHeaderTimeout: 10 * time.Second}
	go r.server.Serve(listener)
	return r, nil
}

// URL returns the URL that receives webhooks.
func (r *Receiver) URL() string { return r.url }

// Close ends the receiver.
func (r *Receiver) Close() error { return r.server.Close() }

func (r *Receiver) receive(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err == nil {
		r.Take(q.Header.Get("webhook-id"), body)
	}
	w.WriteHeader(http.StatusNoContent)
}

// Take notes a delivery.
func (r *Receiver) Take(id string, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var is struct {
		Type string
		Data struct {
			Member string
			Tools  int `json:"tool_count"`
		}
	}
	whole := string(body)
	if err := json.Unmarshal(body, &is); err != nil || id == "" || is.Data.Member == "" {
		r.complain("was sent what is no event: id %q, %s", id, whole)
		return
	}
	r.arrived++
	switch {
	case r.ids[id] == whole:
		r.repeated++
		return
	case r.ids[id] != "":
		r.complain("was sent two events under the id %s: %s and %s", id, r.ids[id], whole)
	case r.sent[whole] != "":
		r.complain("was sent one event under two ids, %s and %s: %s", r.sent[whole], id, whole)
	}
	r.ids[id], r.sent[whole] = whole, id
	m := r.of(is.Data.Member)
	m.came = append(m.came, Event{is.Type, is.Data.Tools})
}

func (r *Receiver) complain(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *Receiver) of(name string) *member {
	if r.members[name] == nil {
		r.members[name] = &member{}
	}
	r.open[name] = r.members[name]
	return r.members[name]
}

// Expect notes a change that has happened.
func (r *Receiver) Expect(name, kind string, tools int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.of(name)
	m.expected = append(m.expected, Event{kind, tools})
}

// Check returns what is wrong so far, each complaint once. Ask when it is known of every
// change whether it has happened.
func (r *Receiver) Check() (wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.open {
		for i, e := range m.came {
			if i >= len(m.expected) || m.expected[i] != e {
				r.complain("was sent %v of %s, and what happened is %v", m.came, name, m.expected)
				m.came = append([]Event(nil), m.expected[:min(len(m.expected), len(m.came))]...)
				break
			}
		}
		if len(m.came) == len(m.expected) {
			delete(r.open, name)
		}
	}
	wrong, r.wrong = r.wrong, nil
	return wrong
}

// Wait waits until everything has come, at most so long, and returns what has not.
func (r *Receiver) Wait(most time.Duration) (missing []string) {
	for end := time.Now().Add(most); ; time.Sleep(50 * time.Millisecond) {
		if missing = r.Missing(); len(missing) == 0 || time.Now().After(end) {
			return missing
		}
	}
}

// Missing returns the events that no webhook has reported.
func (r *Receiver) Missing() (missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.open {
		if n := len(m.came); n < len(m.expected) {
			missing = append(missing, fmt.Sprintf("%s: %v", name, m.expected[n:]))
		}
	}
	return missing
}

// Counts are the events that were expected, the deliveries that came, and how many of these
// were repetitions.
func (r *Receiver) Counts() (expected, arrived, repeated int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		expected += len(m.expected)
	}
	return expected, r.arrived, r.repeated
}
