package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/firstrun"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/garbage"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/cmd/keystile/internal/resident"
	"github.com/keystile/keystile/cmd/keystile/internal/systemd"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
)

// serve runs the service until ctx ends or a signal comes.
func (p program) serve(ctx context.Context, call cli.Call) error {
	defer garbage.Collect() // whatever becomes of the start
	base := ballast()
	defer func() { runtime.KeepAlive(base) }()
	c, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // from here on a second signal does what it does by default: it ends the process

	log, endLog := newLog(c, call)
	defer endLog()
	p.log = log
	manager, err := takeOver(c, call.Env)
	if err != nil {
		return err
	}
	f, err := folder.Open(c.Data)
	if err != nil {
		return err
	}
	if f.Made() {
		log.Info("made a new data folder", "path", f.Path())
	}
	if w := f.Warning(); w != "" {
		log.Warn(w)
	}
	data, err := p.openStore(ctx, c, f)
	if err != nil {
		return err
	}
	say := call.Stdout
	if c.Streams.To(config.StreamStdout) { // nothing but records is there
		say = call.Stderr
	}
	if data.ships, err = shippingOf(c, call.Stdout); err == nil {
		err = runService(ctx, c, data, manager, log, say)
		data.ships.close(ctx)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // told to stop while it was still starting
	}
	return errors.Join(err, data.Close())
}

// runService serves an open store: it opens the listeners, joins the other nodes, makes the service
// and waits for the end.
func runService(ctx context.Context, c *config.Config, data *dataStore, manager managed, log *slog.Logger,
	say io.Writer) (err error) {
	public, err := manager.listen(ctx, systemd.Public, "--listen", c.Listen)
	if err != nil {
		return err
	}
	defer public.Close()
	operators, counted, err := openOperators(ctx, c, data, manager, log)
	if err != nil {
		return err
	}
	defer operators.close()
	base := cmp.Or(c.BaseURL, baseURL(c.Listen, public.Addr()))
	var observer requests.Observer
	if counted != nil {
		observer = counted
	}
	others, err := join(ctx, c, data.store, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave(others)) }()
	traces, err := openTraces(ctx, c, others, log)
	if err != nil {
		return err
	}
	defer traces.Close()
	service, err := assemble(ctx, c, base, data, others, traces, log, observer)
	if err != nil {
		return err
	}
	if counted != nil {
		counted.Watch(service.Gateway.Stats, service.Gateway.Health)
		counted.WatchFeed(service.Tokens.Feed)
		others.watch(counted)
		watchShipping(counted, service.Service)
		watchTraces(counted, traces)
	}
	defer func() { err = errors.Join(err, closeService(service)) }()
	return opened{c, data, manager, log, public, operators, counted, others.node.Name()}.serve(ctx, service, base, say)
}

// opened holds what a service is served with.
type opened struct {
	conf      *config.Config
	data      *dataStore
	manager   managed
	log       *slog.Logger
	public    net.Listener
	operators listeners
	counted   *metrics.Metrics // nil: nobody reads them
	name      string           // of this node
}

// serve prints the banner and serves until the end.
func (o opened) serve(ctx context.Context, service *assembled, base string, say io.Writer) error {
	c, data, log := o.conf, o.data, o.log
	first, err := firstrun.Run(ctx, firstrun.Config{
		Target: data.target(service), Users: data.users, Path: data.FirstRun(), BaseURL: base, Demo: c.Demo,
		Node: o.name, New: data.joined,
	})
	if err != nil {
		return err
	}
	if first.By != "" {
		log.Info("another node was first and has made what there is: first-run.json is in its data folder", "node", first.By)
	}
	front := newServer(service, log)
	front.RegisterOnShutdown(func() { service.Bus.Close(ctx) }) // ends its streams, which Shutdown would wait for
	front.Handler = closing(&data.leaving, front.Handler)
	s := servers{
		log: log, manager: o.manager, status: "Serving " + base, alive: answers(service.quiet),
		listeners: append(o.operators, listener{server: front, at: o.public}), drain: c.Drain,
		leave: func() { data.leaving.Store(true) },
	}
	if private, err := data.Listen(ctx); err != nil { // some file systems have no sockets
		log.Warn("commands cannot reach this server: stop it to use them", "err", err)
	} else {
		target := data.target(service)
		target.Address = o.public.Addr().String()
		s.listeners = append(s.listeners, listener{server: newServer(admin.Handler(target, log), log), at: private})
	}
	s.limit(c, front, o.counted)
	advise(log, c, base)
	log.Info("serving", "base_url", base, "address", o.public.Addr())
	writeBanner(say, banner{
		Base: base, Address: o.public.Addr().String(), Operators: o.operators.address(), Folder: data.Path(),
		Kept: data.FirstRun(),
		Demo: c.Demo, DemoOff: !c.Demo && c.DemoUnasked, Terminal: terminal.Is(say), FirstRun: first.Made, By: first.By,
	})
	garbage.Collect()
	defer time.AfterFunc(settled, resident.GiveBack).Stop()
	return s.run(ctx)
}

// closeService hands what is counted and noted to the store, once nobody asks any more.
func closeService(service *assembled) error {
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	return service.Close(ctx)
}

// leave tells the other nodes that this one is gone.
func leave(others *membership) error {
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	return others.close(ctx)
}

// newLog returns the log, and what writes the last of it.
func newLog(c *config.Config, call cli.Call) (log *slog.Logger, end func()) {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	var h slog.Handler = slog.NewTextHandler(call.Stderr, options)
	if c.LogFormat == "json" {
		h = slog.NewJSONHandler(call.Stderr, options)
	}
	lines := requests.Log(h)
	return slog.New(lines), lines.Close
}

// newServer limits headers and the pause between requests. The limits of connections, bodies
// and answers come with servers.limit.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return watch(&http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeader,
		IdleTimeout:       idle,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          requests.ServerLog(log),
	})
}
