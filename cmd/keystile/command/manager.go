package command

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/systemd"
	"github.com/keystile/keystile/internal/connections"
)

// managed holds the service manager and the sockets that it handed over; the zero value is none.
type managed struct {
	systemd.Manager
	sockets map[string]*systemd.Socket
}

// takeOver takes the sockets. Their addresses are the configuration's from then on: whether there is a
// demo, and who may ask the admin listener, follows from them.
func takeOver(c *config.Config, env []string) (managed, error) {
	m := managed{Manager: systemd.From(env, os.Getpid())}
	sockets, err := m.Sockets()
	if err != nil {
		return m, cli.Usage("%w", err)
	}
	m.sockets = sockets
	if s := sockets[systemd.Public]; s != nil {
		c.TakeSocket(s.Addr().String())
	}
	if s := sockets[systemd.Admin]; s != nil {
		c.AdminListen = s.Addr().String()
	}
	return m, nil
}

// listen returns the socket of this name, or opens the address that a flag gave.
func (m managed) listen(ctx context.Context, name, flag, address string) (net.Listener, error) {
	s := m.sockets[name]
	if s == nil {
		return listen(ctx, flag, address)
	}
	if tcp, is := s.Listener.(*net.TCPListener); is {
		if err := connections.Inherit(tcp); err != nil {
			return nil, fmt.Errorf("the socket %s: %w", name, err)
		}
	}
	return s, nil
}

// tell says something to the manager, and serves on if it cannot be told.
func (m managed) tell(log *slog.Logger, lines ...string) {
	if err := m.Tell(lines...); err != nil {
		log.Warn("not told to the service manager", "err", err)
	}
}

// answers returns what asks a handler whether it is alive, as a client would, and waits for the answer.
func answers(h http.Handler) func(context.Context) bool {
	return func(ctx context.Context) bool {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/healthz/live", nil)
		if err != nil {
			return false
		}
		w := &statusOnly{header: http.Header{}}
		h.ServeHTTP(w, r)
		return w.status == http.StatusOK
	}
}

// statusOnly is an answer of which the status is kept.
type statusOnly struct {
	header http.Header
	status int
}

func (w *statusOnly) Header() http.Header { return w.header }

func (w *statusOnly) WriteHeader(status int) { w.status = status }

func (w *statusOnly) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return len(b), nil
}
