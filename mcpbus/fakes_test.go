package mcpbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// tokens is a verifier that knows a few texts.
type tokens struct {
	mu    sync.Mutex
	known map[string]storage.Caller
	fail  error
}

func (k *tokens) give(bearer string, c storage.Caller, lifetime time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.ExpiresAt = time.Now().Add(lifetime)
	k.known[bearer] = c
}

func (k *tokens) revoke(bearer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, bearer)
}

func (k *tokens) Verify(_ context.Context, bearer string, audiences ...string) (storage.Caller, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.known[bearer]
	switch {
	case k.fail != nil:
		return storage.Caller{}, k.fail
	case !ok || !time.Now().Before(c.ExpiresAt):
		return storage.Caller{}, fmt.Errorf("%w: not one of ours", token.ErrInvalid)
	case !slices.Contains(audiences, c.Audience):
		return storage.Caller{}, fmt.Errorf("%w: meant for another audience", token.ErrInvalid)
	}
	return c, nil
}

// calls is an upstream. Without a do it answers with what it was sent.
type calls struct {
	mu   sync.Mutex
	do   func(ctx context.Context, tool string, arguments json.RawMessage) (mcpbus.Result, error)
	seen []string
}

func (c *calls) Call(ctx context.Context, p storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	c.mu.Lock()
	name, do := p.Member+"."+t.Name, c.do
	c.seen = append(c.seen, name+" "+string(arguments))
	c.mu.Unlock()
	if do == nil {
		return answered(200, `{"tool":"`+name+`"}`), nil
	}
	return do(ctx, name, arguments)
}

// answered is a result as an upstream's JSON gives it.
func answered(status int, body string) mcpbus.Result {
	return mcpbus.FromREST(restcall.Result{
		IsError: status >= 400, Content: []restcall.Content{{Type: "text", Text: body}}, Structured: json.RawMessage(body),
		Dispatched: true, Status: status, Bytes: int64(len(body)),
	})
}

// meter remembers charges and events.
type meter struct {
	mu      sync.Mutex
	fail    error
	quota   bool // it knows what is left
	charges []string
	tools   []string // that were charged
	events  []event.Event
}

func (m *meter) ChargeOnce(_ context.Context, c storage.Caller, product, tool string, _ []byte, took time.Duration,
	failed bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == nil {
		m.tools = append(m.tools, tool)
		m.charges = append(m.charges, fmt.Sprint(c.AppID, " ", product, " failed ", failed))
	}
	return m.fail
}

// Quota is of a thousand calls, less those since the bill was asked for last.
func (m *meter) Quota(context.Context, storage.Caller) (limit, remaining int64, reset time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return 1000, 1000 - int64(len(m.charges)), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), m.quota
}

func (m *meter) Note(e event.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
}

// bill returns what was charged and noted since it was asked last.
func (m *meter) bill() (charges []string, events []event.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	charges, events = m.charges, m.events
	m.charges, m.events = nil, nil
	return charges, events
}

var errAway = errors.New("away")
