package gateway

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/streams"
	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/token"
)

const (
	defaultStreamLife = 24 * time.Hour
	lookLimit         = 3 * time.Second // of the store, in one look at all streams
)

// Why a stream is ended, for the log.
var (
	errDisabled = errors.New("the application is disabled or removed")
	errRevoked  = errors.New("the token has been revoked")
)

func (g *Gateway) newStreams() *streams.Watcher {
	return streams.New(streams.Config{
		Life: cmp.Or(g.c.StreamLife, defaultStreamLife), Look: g.lookAtTokens, Go: g.background.do, Ended: g.streamsEnded,
	})
}

// watch has a request of a caller who is known end with their token, wherever it is when it ends. It reports whether
// the request was not watched yet: then the stream is left when it is over.
//
// A stream of events, an upload, a long answer or a WebSocket ends with its token, with its application or
// user, and after Config.StreamLife: first its context, whose cause is ErrEnded, then its connection. All
// requests of known callers are watched, in memory and by one goroutine (package internal/streams); calls of
// less than three seconds are left alone. While revocations cannot be read such calls end too, as none passes
// then. Behind forward auth only the proxy can end them.
func (g *Gateway) watch(w http.ResponseWriter, v *reqctx.Visit) bool {
	if !v.Known {
		return false
	}
	e := v.Entry.(*entry)
	if e.stream.Watched() {
		return false
	}
	e.visit = v
	g.streams.Watch(&e.stream, v.Context, w, watched{e})
	v.Context = &e.stream // the request's context is the Visit
	return true
}

// watched is a request that is watched, as package streams asks about it.
type watched struct{ *entry }

func (w watched) Token() streams.Token {
	return streams.Token{
		Bearer: w.bearer, Key: w.visit.Caller.KeyThumbprint, Elsewhere: w.elsewhere, AppID: w.visit.Caller.AppID,
		ExpiresAt: w.visit.Caller.ExpiresAt,
	}
}

func (w watched) Began() time.Time { return w.visit.Began }

// lookAtTokens begins a look at the tokens of all streams. Revocations are in memory; applications are cached as
// they are for calls, and read once in a look.
func (g *Gateway) lookAtTokens(ctx context.Context) func(streams.Token) error {
	began := time.Now()
	apps := map[string]error{}
	app := func(id string) error {
		why, asked := apps[id]
		if !asked {
			limited, cancel := context.WithDeadline(ctx, began.Add(lookLimit))
			defer cancel()
			account, err := g.accounts.of(limited, id, began)
			if isNotFound(err) || err == nil && account.Disabled {
				why = errDisabled
			}
			apps[id] = why
		}
		return why
	}
	return func(t streams.Token) error {
		var audiences []string
		if t.Elsewhere {
			audiences = g.resources
		}
		limited, cancel := context.WithDeadline(ctx, began.Add(lookLimit))
		defer cancel()
		switch _, err := g.c.Tokens.Verify(dpop.Proven(limited, t.Key), t.Bearer, audiences...); {
		case errors.Is(err, ErrInvalidToken):
			return errRevoked
		case errors.Is(err, token.ErrStale): // as no call passes now
			return token.ErrStale
		}
		return app(t.AppID)
	}
}

func (g *Gateway) streamsEnded(why map[string]int) {
	for reason, n := range why {
		g.streamsCut.Add(uint64(n))
		g.c.Log.Info("streams were ended", "count", n, "why", reason)
	}
}
