package command

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/cmd/keystile/internal/systemd"
	"github.com/keystile/keystile/internal/reply"
)

// listeners are openings before they are served.
type listeners []listener

// openOperators opens the admin listener, and returns what counts for its metrics. There
// is neither if the configuration names no address.
func openOperators(ctx context.Context, c *config.Config, data *dataStore, manager managed,
	log *slog.Logger) (listeners, *metrics.Metrics, error) {
	if c.AdminListen == "" {
		return nil, nil, nil
	}
	at, err := manager.listen(ctx, systemd.Admin, "--admin-listen", c.AdminListen)
	if err != nil {
		return nil, nil, err
	}
	m := metrics.New(versionOf(), func() float64 { return float64(data.swept.Load()) })
	m.Storage(data.statements)
	for _, g := range data.gauges {
		m.Gauge(g.Name, g.Help, g.Value)
	}
	data.events = m.Events()
	data.watch(m)
	log.Info("admin listener", "address", at.Addr())
	return listeners{{server: newServer(onlyHosts(c, at.Addr(), log, operatorsMux(m, data, log)), log), at: at}}, m, nil
}

// operatorsMux names every handler of package pprof itself: what that package puts into
// the default mux by being imported is served nowhere.
func operatorsMux(m *metrics.Metrics, data *dataStore, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", reply.NewMux(log, append(healthRoutes(data),
		reply.Route{Path: "/healthz/nodes", Methods: read, Handle: data.listNodes})...))
	mux.Handle("/metrics", m.Handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// nodeHealth shows operators one of the servers that share the store.
type nodeHealth struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Started time.Time `json:"started_at"`
	BeatAge float64   `json:"beat_age"` // seconds
	Live    bool      `json:"live"`
	Self    bool      `json:"self"`
}

// listNodes serves GET /healthz/nodes, on the admin listener alone.
func (h *dataStore) listNodes(w http.ResponseWriter, r *http.Request) error {
	all := []nodeHealth{}
	if s := h.serving.Load(); s != nil {
		list, err := s.Nodes.List(r.Context())
		if err != nil {
			return err
		}
		for _, n := range list {
			all = append(all, nodeHealth{n.ID, n.Name, n.Build, n.Started, n.Age.Seconds(), n.Live, n.Self})
		}
	}
	reply.NoStore(w)
	return reply.JSON(w, http.StatusOK, map[string][]nodeHealth{"nodes": all})
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
