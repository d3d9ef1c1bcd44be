package console

import (
	"context"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/trail"
	"github.com/keystile/keystile/internal/admin/serviceacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Archive is the audit trail as it is read; *gateway.Trail has it.
type Archive interface {
	// Search returns a page of events, and reads a bounded part of the trail for it.
	Search(ctx context.Context, q event.Query) (event.Page, error)
	// State returns what is known without reading the trail.
	State(ctx context.Context) (event.TrailState, error)
	// Verify reads all of it, and tells how many records each step has read.
	Verify(ctx context.Context, read func(records int)) (event.TrailReport, error)
}

// Keys are the keys that sign tokens; *oauth.Tokens has it. Private keys are never asked for.
type Keys interface {
	SigningAlg() string
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
	RetireKey(ctx context.Context, kid string) error
}

// Vital is one thing that the service is well by.
type Vital struct {
	Name  string // such as "feed lag"
	Value string // such as "0.4 s"
	Well  bool
	Says  string // what is wrong, and what to do; "": nothing
}

// Server describes what the service keeps its records in, or counts with. It is asked for at each look at
// the service's health, so whoever answers waits for nothing.
type Server struct {
	Kind    string // such as "PostgreSQL" or "bolt"
	Version string // "": there is none, or it is not known
	At      string // host:port/database, without user, password and parameters; "": there is no such place
	Bytes   int64  // of the records; 0: not known

	Away  bool      // what counts cannot be reached; of the records the console finds that out itself
	Since time.Time // when it was lost
}

// Setting is a key of the configuration that the process was started with.
type Setting struct {
	Key     string
	Value   string // of a secret never the value
	Source  string // such as "default" or "flag --listen"
	Default string
	Help    string

	HelpChinese string // Help in Chinese; "": there is none
}

func (s *Console) auditTrail() *trail.Trail {
	c := trail.Config{Store: s.c.Store, Finder: s.finder, Recorder: s.recorder}
	if s.c.Archive != nil {
		c.Archive = s.c.Archive
	}
	return trail.New(c)
}

// vitals returns what tells what the service is well by: the host's, and whether what counts for all nodes
// can be reached. nil: nothing does.
func (s *Console) vitals() func(ctx context.Context) []system.Vital {
	counters := s.c.Counters
	if counters == nil && s.c.Vitals == nil {
		return nil
	}
	return func(ctx context.Context) (all []system.Vital) {
		if s.c.Vitals != nil {
			for _, v := range s.c.Vitals(ctx) {
				all = append(all, system.Vital(v))
			}
		}
		if counters == nil {
			return all
		}
		switch by := counters(); {
		case by.Kind == "": // each node counts alone, and nothing can be away
		case by.Away:
			all = append(all, system.Vital{Name: "shared counters", Value: "not reachable",
				Says: "each node keeps its share of the limits: see whether the server that counts runs, and the log of this node"})
		default:
			all = append(all, system.Vital{Name: "shared counters", Value: "reachable", Well: true})
		}
		return all
	}
}

func (s *Console) system() *system.System {
	c := system.Config{Nodes: s.c.Nodes, Store: s.c.Store, Vitals: s.vitals(), Finder: s.finder,
		Began: time.Now()}
	acts := serviceacts.Config{Store: s.c.Store, Recorder: s.recorder, Reload: s.reload()}
	if s.c.Keys != nil {
		c.Keys, acts.Keys = s.c.Keys, s.c.Keys
	}
	c.Acts = serviceacts.New(acts)
	if s.c.Stored != nil {
		c.Stored = func() system.Server { return system.Server(s.c.Stored()) }
	}
	if s.c.Counters != nil {
		c.Counters = func() system.Server { return system.Server(s.c.Counters()) }
	}
	if settings := s.c.Settings; settings != nil {
		c.Settings = func() (all []system.Setting) {
			for _, v := range settings() {
				all = append(all, system.Setting(v))
			}
			return all
		}
	}
	return system.New(c)
}
