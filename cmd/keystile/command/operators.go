package command

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/internal/reply"
)

// listeners are openings before they are served.
type listeners []listener

// openOperators opens the admin listener, and returns what counts for its metrics. There
// is neither if the configuration names no address.
func openOperators(ctx context.Context, c *config.Config, data *dataStore, log *slog.Logger) (listeners, *metrics.Metrics, error) {
	if c.AdminListen == "" {
		return nil, nil, nil
	}
	at, err := listen(ctx, "--admin-listen", c.AdminListen)
	if err != nil {
		return nil, nil, err
	}
	m := metrics.New(versionOf(), func() float64 { return float64(data.swept.Load()) })
	m.Storage(data.statements)
	for _, g := range data.gauges {
		m.Gauge(g.Name, g.Help, g.Value)
	}
	log.Info("admin listener", "address", at.Addr())
	return listeners{{server: newServer(onlyHosts(c, at.Addr(), log, operatorsMux(m, data, log)), log), at: at}}, m, nil
}

// operatorsMux names every handler of package pprof itself: what that package puts into
// the default mux by being imported is served nowhere.
func operatorsMux(m *metrics.Metrics, data *dataStore, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", reply.NewMux(log, healthRoutes(data)...))
	mux.Handle("/metrics", m.Handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

func (d listeners) close() {
	for _, o := range d {
		o.at.Close()
	}
}

func (d listeners) address() string {
	if len(d) == 0 {
		return ""
	}
	return d[0].at.Addr().String()
}
