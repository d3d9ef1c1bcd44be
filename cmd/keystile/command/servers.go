package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/cmd/keystile/internal/systemd"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/internal/plainhttp"
)

const (
	readHeader = 5 * time.Second
	idle       = 2 * time.Minute
	drain      = 7 * time.Second // what requests on their way get after a signal
	// A request that http.Server has just read when Shutdown begins is dropped without an answer. Where a
	// balancer sends them, those on the last connections get so long to be read.
	lastRequests = 200 * time.Millisecond

	// A start leaves memory behind, the first one 20 MB of the hash of a password. It is given back when the first
	// requests, which somebody may have waited for, have been answered.
	settled = 500 * time.Millisecond

	settling = 2 * time.Second // and what they have left behind, after that
	sweep    = time.Minute
)

// servers is everything that runs while the service does.
type servers struct {
	log       *slog.Logger
	listeners []listener
	drain     time.Duration // between the end of ctx and that of listening
	leave     func()        // called before that; nil: nothing

	manager managed                    // is told when it begins, that it is alive, and when it ends
	status  string                     // what the manager shows meanwhile
	alive   func(context.Context) bool // returns unless something hangs
}

// listener is a server and where it listens.
type listener struct {
	server *http.Server
	fast   *plainhttp.Server // answers plain requests before server; nil: none
	at     net.Listener
	last   *lastCall // below at; nil: it is closed as it is
}

// serving serves a listener.
type serving interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}

func (l listener) serving() serving {
	if l.fast != nil {
		return l.fast
	}
	return l.server
}

// limit bounds what clients can hold open at each listener, and shows it in the metrics, if there
// are any. Operators have places of their own, so that they get in when the public listener is
// full. Clients of the admin socket can do everything, and are not counted.
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
			PerAddress: c.MaxConnections, Total: total, StreamIdle: c.StreamIdle,
			Trusted: clientip.New(c.TrustedProxies).TrustsAddr,
		})
		if last := endingWell(o.at); last != nil {
			o.at, s.listeners[i].last = last, last
		}
		s.listeners[i].at = limits.Guard(o.server, o.at)
		if c.ListenFast && name == "public" {
			s.listeners[i].fast = plainhttp.New(o.server)
		}
		if counted != nil {
			counted.WatchRoom(name, total)
			counted.WatchConnections(name, limits.Stats)
		}
	}
}

// run serves until ctx ends or a server fails, then stops everything it has started.
func (s servers) run(told context.Context) error {
	ctx, end := context.WithCancel(told)
	defer end()
	var work sync.WaitGroup
	failures := make(chan error, len(s.listeners))
	for _, d := range s.listeners {
		work.Go(func() {
			if err := d.serving().Serve(d.at); !errors.Is(err, http.ErrServerClosed) {
				failures <- err
				end()
			}
		})
	}
	s.manager.tell(s.log, systemd.Ready, systemd.Status(s.status))
	go s.manager.Watch(ctx, s.alive) // not waited for: it may hang, and is there to say so
	<-ctx.Done()
	s.manager.tell(s.log, systemd.Stopping)
	if told.Err() != nil && len(failures) == 0 {
		s.leaveFirst(failures)
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

// leaveFirst goes on serving while balancers find out that this process will not be there any more.
func (s servers) leaveFirst(failures chan error) {
	if s.drain <= 0 || s.leave == nil {
		return
	}
	s.leave()
	s.log.Info("not ready any more, and still serving", "for", s.drain)
	over := time.NewTimer(s.drain)
	defer over.Stop()
	select {
	case <-over.C:
	case err := <-failures:
		failures <- err // it has room: who sent it is gone
	}
}

// errLeaving: the process is about to stop, and serves until then.
var errLeaving = errors.New("the process was told to stop")

// closing has answers close their connections once the process is about to stop, so that none is in
// use when it does. A connection that becomes a WebSocket's is not HTTP's to close.
func closing(leaving *atomic.Bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if leaving.Load() && r.ProtoMajor == 1 && r.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// stop lets no more requests in and waits for those on their way. Requests that are not done in
// time, half-sent ones above all, are cut off: the process must end.
func (s servers) stop() {
	deadline, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	var stopping sync.WaitGroup
	for _, d := range s.listeners {
		stopping.Go(func() {
			if d.last != nil {
				d.last.finish()
			}
			if s.drain > 0 {
				time.Sleep(min(s.drain, lastRequests))
			}
			// Another error is of closing a listener that lastCall has closed already.
			if err := d.serving().Shutdown(deadline); errors.Is(err, context.DeadlineExceeded) {
				s.log.Warn("requests were not done in time and are cut off", "after", drain)
				d.serving().Close()
			}
		})
	}
	stopping.Wait()
}
