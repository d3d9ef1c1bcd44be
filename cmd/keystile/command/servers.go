package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/connections"
)

const (
	readHeader = 5 * time.Second
	idle       = 2 * time.Minute
	finish     = 7 * time.Second // what requests on their way get when no more are let in
	settling   = 2 * time.Second // and what they have left behind, after that
	sweep      = time.Minute
)

// servers is everything that runs while the service does.
type servers struct {
	log       *slog.Logger
	listeners []listener

	leave func()        // says that no more requests are wanted, before they are refused; nil: nobody asks
	drain time.Duration // how long that is said
}

// listener is a server and where it listens.
type listener struct {
	server *http.Server
	at     net.Listener
}

// limit bounds what clients can hold open at each listener, and shows it in the metrics, if
// there are any. Operators have places of their own, so that they get in when the public
// listener is full. Who can open the admin socket can do everything, and is not counted.
func (s servers) limit(c *config.Config, public *http.Server, counted *metrics.Metrics) {
	room, reserve := connections.Room()
	for i, o := range s.listeners {
		name, total := "admin", reserve
		switch {
		case o.at.Addr().Network() == "unix":
			name, total = "socket", 0
		case o.server == public:
			name, total = "public", room
		}
		limits := connections.New(connections.Config{
			PerAddress: c.MaxConnections, Total: total, StreamIdle: c.StreamIdle, Trusted: clientip.New(c.TrustedProxies).TrustsAddr,
		})
		s.listeners[i].at = limits.Guard(o.server, o.at)
		if counted != nil {
			counted.WatchConnections(name, limits.Stats)
		}
	}
}

// run serves until ctx ends or a server fails, then stops everything it has started.
func (s servers) run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	broken := make(chan struct{}) // closed when a server has failed: nothing is to be waited for
	breaks := sync.OnceFunc(func() { close(broken); end() })
	var work sync.WaitGroup
	failures := make(chan error, len(s.listeners))
	for _, d := range s.listeners {
		work.Go(func() {
			if err := d.server.Serve(d.at); !errors.Is(err, http.ErrServerClosed) {
				failures <- err
				breaks()
			}
		})
	}
	<-ctx.Done()
	if s.drain > 0 {
		s.log.Info("stopping soon: not ready any more, and still serving", "drain", s.drain)
		s.leave()
		select {
		case <-time.After(s.drain):
		case <-broken:
		}
	}
	s.log.Info("stopping")
	s.stop()
	work.Wait()
	close(failures)
	var errs []error
	for err := range failures {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// stop lets no more requests in and waits for those on their way. What is not done in
// time, half-sent requests above all, is cut off: the process must end.
func (s servers) stop() {
	deadline, cancel := context.WithTimeout(context.Background(), finish)
	defer cancel()
	var stopping sync.WaitGroup
	for _, d := range s.listeners {
		stopping.Go(func() {
			if err := d.server.Shutdown(deadline); err != nil {
				s.log.Warn("requests were not done in time and are cut off", "after", finish)
				d.server.Close()
			}
		})
	}
	stopping.Wait()
}
