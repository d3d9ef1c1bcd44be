package console

import (
	"context"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/trail"
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

// Keys are the keys that sign tokens; *oauth.Tokens has it. What they sign with is never asked for.
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

// Setting is a key of the configuration that the process was started with.
type Setting struct {
	Key     string
	Value   string // of a secret never the value
	Source  string // such as "default" or "flag --listen"
	Default string
	Help    string
}

func (s *Console) auditTrail() *trail.Trail {
	c := trail.Config{Apps: s.c.Store, Recorder: s.recorder}
	if s.c.Archive != nil {
		c.Archive = s.c.Archive
	}
	return trail.New(c)
}

func (s *Console) system() *system.System {
	c := system.Config{Nodes: s.c.Nodes, Store: s.c.Store, Recorder: s.recorder, Began: time.Now()}
	if s.c.Keys != nil {
		c.Keys = s.c.Keys
	}
	if vitals := s.c.Vitals; vitals != nil {
		c.Vitals = func(ctx context.Context) (all []system.Vital) {
			for _, v := range vitals(ctx) {
				all = append(all, system.Vital(v))
			}
			return all
		}
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
