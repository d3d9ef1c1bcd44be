package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/claim"
)

const (
	hostTime  = time.Second // that a call of the host's function may take
	hostCalls = 256         // that are under way at once, with those that are waited for no longer
)

// Failure says why a call has brought nothing, in words that hold nothing of the host's.
type Failure struct {
	Why   string
	Err   error // what the function has returned
	Panic any   // with what it panicked
	Stack []byte
}

func (f *Failure) Error() string { return f.Why }

var (
	errSlow = &Failure{Why: fmt.Sprintf("it took longer than %v", hostTime)}
	errBusy = &Failure{Why: fmt.Sprintf("%d calls of it have not returned", hostCalls)}
)

// Host asks the function of a host for claims. A call that does not return in time is waited for no longer, and takes
// one of a bounded number of places until it does return: when none is left, nothing is asked.
type Host struct {
	places chan struct{}
}

// NewHost makes a Host.
func NewHost() *Host { return &Host{make(chan struct{}, hostCalls)} }

// Claim is a claim of a host. Its Value is JSON; nil: there is none for what the host has returned.
type Claim struct {
	Name  string
	Value json.RawMessage
}

// answer holds what a call has brought.
type answer struct {
	all     []Claim
	failure *Failure
}

// Ask returns what a function returns, sorted by name, or why that is nothing. When ctx ends, nobody waits for an
// answer: it returns nothing, and no failure.
func (h *Host) Ask(ctx context.Context,
	call func(ctx context.Context) (map[string]any, error)) ([]Claim, *Failure) {
	select {
	case h.places <- struct{}{}:
	default:
		return nil, errBusy
	}
	limited, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		a := answer{failure: &Failure{Why: "it ended its goroutine"}}
		defer func() {
			if p := recover(); p != nil {
				a.failure = &Failure{Why: "it panicked", Panic: p, Stack: debug.Stack()}
			}
			<-h.places
			answers <- a
		}()
		all, err := call(limited)
		if err != nil {
			a.failure = &Failure{Why: "it failed", Err: err}
			return
		}
		a = answer{all: inJSON(all)}
	}()
	select {
	case a := <-answers:
		if a.failure == nil || limited.Err() == nil { // or it has failed because it was given up
			return a.all, a.failure
		}
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	return nil, errSlow
}

// inJSON returns claims as JSON. It is called where a value that panics, or takes long, is the host's concern.
func inJSON(all map[string]any) (out []Claim) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[name])
		if err != nil {
			text = nil
		}
		out = append(out, Claim{name, text})
	}
	return out
}

// Close waits until no call is under way, or returns an error once ctx has ended.
func (h *Host) Close(ctx context.Context) error {
	for range hostCalls {
		select {
		case h.places <- struct{}{}:
		case <-ctx.Done():
			return errors.New("oauth: a call of Config.Claims has not returned: it must return when its context ends")
		}
	}
	return nil
}

// AppendHosts appends those claims of a host that no rule has said already and that fit into so many bytes. It returns
// the names of what it has dropped beside: claims with a name that is no claim's to add, without a value, and those
// that do not fit.
func AppendHosts(to []byte, all []Claim, ruled map[string]any, room int) (_ []byte, dropped []string) {
	for _, c := range all {
		_, said := ruled[c.Name]
		size := len(c.Name) + len(c.Value) + len(`"":,`)
		switch {
		case said:
		case claim.CheckName(c.Name) != nil || c.Value == nil || size > room:
			dropped = append(dropped, c.Name)
		default:
			to, room = appendMember(to, c.Name, c.Value), room-size
		}
	}
	return to, dropped
}
