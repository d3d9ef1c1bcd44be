package system

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/keystile/keystile/internal/admin"
)

// Vital is one thing that the service is well by.
type Vital struct {
	Name  string // such as "feed lag", in English
	Value string // such as "0.4 s"
	Well  bool
	Says  string // what is wrong, and what to do; "": nothing
}

// vitalRecord shows a Vital.
type vitalRecord struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Well  bool   `json:"well"`
	Says  string `json:"says"`
}

// healthRecord shows how the node that answers is.
type healthRecord struct {
	Well       bool          `json:"well"`
	Vitals     []vitalRecord `json:"vitals"`
	Uptime     int64         `json:"uptime"` // seconds
	Goroutines int           `json:"goroutines"`
	Memory     uint64        `json:"memory"` // bytes that Go has from the system
	Go         string        `json:"go"`
	Version    string        `json:"version"`  // of Keystile
	Store      *storeRecord  `json:"store"`    // what the records are in; null: not known
	Counters   *countRecord  `json:"counters"` // what counts for all nodes; null: not known
}

// probe bounds how long the store is waited for.
const probe = 2 * time.Second

// health serves GET /api/console/health. Why the store does not work is in the log: it may name addresses.
func (s *System) health(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	v := healthRecord{
		Well: true, Vitals: []vitalRecord{}, Uptime: int64(time.Since(s.c.Began).Seconds()),
		Goroutines: runtime.NumGoroutine(), Memory: m.Sys, Go: runtime.Version(),
		Version: version(), Store: s.backing(), Counters: s.counters(),
	}
	ctx, cancel := context.WithTimeout(r.Context(), probe)
	defer cancel()
	store := Vital{Name: "store", Value: "reachable", Well: true}
	if s.c.Store.Ready(ctx) != nil {
		store = Vital{Name: "store", Value: "not working", Says: "the last write or read failed: see the log of this node"}
	}
	all := []Vital{store}
	if s.c.Vitals != nil {
		all = append(all, s.c.Vitals(ctx)...)
	}
	for _, one := range all {
		if one.Well {
			one.Says = "" // there is nothing to say
		}
		v.Vitals = append(v.Vitals, vitalRecord(one))
		v.Well = v.Well && one.Well
	}
	return v, nil
}
