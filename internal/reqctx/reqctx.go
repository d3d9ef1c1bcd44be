package reqctx

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage"
)

// Visit is one request. It belongs to the goroutine that serves it, and is the request's
// context itself, which saves a piece of garbage on every request.
type Visit struct {
	context.Context // the one it was begun in

	Began     time.Time
	RequestID string
	Caller    storage.Caller // whom a valid bearer token speaks for; zero unless Known
	Known     bool
	Given     bool // RequestID came along: the one who asks has made it up

	// Identified: it was counted against a user or an application, as Charge and those beside it do, and not
	// against its address. Applications that registered themselves are nobody's here.
	Identified bool

	Trouble error // why it could not be found out now; nil: there is no good token
	Entry   any   // what the gateway keeps for itself; nil: it has not seen the request
	Mover   Mover // nil: there is nothing to move

	Room [3]string // memory for header values of every answer, which avoids allocations

	id    [1]string // the header's value
	from  netip.Addr
	asked bool // from is known
}

// Mover moves the count of a request, once. Its error is the answer: there are too many requests where
// it was moved to.
type Mover interface {
	Move(ctx context.Context, app storage.App) error            // to an application
	MoveTo(ctx context.Context, refuse bool, keys ...Key) error // to a user, see ChargeSession
}

// Now returns the time. It is read off the clock that a step of the other one does not move, which
// takes half as long as time.Now, so it is for what lies shortly behind the beginning of a request.
func (v *Visit) Now() time.Time { return Later(v.Began) }

// Later returns the time, as Now does, of a moment that time.Now has returned.
func Later(than time.Time) time.Time { return than.Add(time.Since(than)) }

// ErrEnded is the cause for which the context of a request ends with the token that it came by, or with the time that
// a request may take. Its client may still be there to hear a last word.
var ErrEnded = errors.New("the token of this request has ended, or its time")

type key struct{}

// Value makes the Visit be found in its own context, and in those made from it.
func (v *Visit) Value(k any) any {
	if k == (key{}) {
		return v
	}
	return v.Context.Value(k)
}

// From returns the Visit of a request's context, nil if no gateway stands before it.
func From(ctx context.Context) *Visit {
	v, _ := ctx.Value(key{}).(*Visit)
	return v
}

// Address returns a function that asks of once for each request, however many want to know
// where that came from. Where several are made, the first one's answer is that of all.
func Address(of func(*http.Request) netip.Addr) func(*http.Request) netip.Addr {
	return func(r *http.Request) netip.Addr {
		v := From(r.Context())
		if v == nil {
			return of(r)
		}
		if !v.asked {
			v.from, v.asked = of(r), true
		}
		return v.from
	}
}

// Charge counts the request against an application that has proved who it is by its
// secret, and no longer against the address it came from. It
// does so once. An error is a *reply.Failure.
func Charge(ctx context.Context, app storage.App) error {
	v := From(ctx)
	if v == nil || v.Mover == nil {
		return nil
	}
	m := v.Mover
	v.Mover = nil
	err := m.Move(ctx, app)
	v.Identified = err == nil && app.Client == nil
	return err
}

// Holder is an Entry that can count a request against its address before it is known who sent it.
type Holder interface {
	// Hold counts the request, once. If the caller turns out to be known, the count is taken back.
	Hold() error
}

// Hold counts a request against its address before something is looked up that anybody can make up:
// call it first. Where no gateway counts, nothing is. An error is a *reply.Failure.
func Hold(ctx context.Context) error {
	if v := From(ctx); v != nil {
		if h, ok := v.Entry.(Holder); ok {
			return h.Hold()
		}
	}
	return nil
}

// Counter is an Entry that can count a request again, for another subject.
type Counter interface {
	// Count counts n requests more, and refuses all of them if there are too many.
	Count(ctx context.Context, n int) error
}

// CountMore counts what one request carries beside the first of it, such as the messages of
// a batch: a rate is of what is asked for and not of how it is packed. Where no gateway
// counts, nothing is. An error is a *reply.Failure.
func CountMore(ctx context.Context, n int) error {
	if v := From(ctx); v != nil && n > 0 {
		if c, ok := v.Entry.(Counter); ok {
			return c.Count(ctx, n)
		}
	}
	return nil
}
