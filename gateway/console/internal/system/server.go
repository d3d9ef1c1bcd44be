package system

import (
	"cmp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/page"
)

// Server describes what the service keeps its records in, or counts with.
type Server struct {
	Kind    string
	Version string
	At      string
	Bytes   int64

	Away  bool
	Since time.Time
}

// storeRecord shows what the records are in.
type storeRecord struct {
	Kind    string `json:"kind"`
	Version string `json:"version"` // "": there is no server, or it is not known
	At      string `json:"at"`      // host:port/database; "": within this machine
	Bytes   int64  `json:"bytes"`   // 0: not known
}

// countRecord shows what counts for all nodes.
type countRecord struct {
	Shared    bool    `json:"shared"` // false: this node counts alone, and nothing below is said
	Kind      string  `json:"kind"`
	Version   string  `json:"version"`
	At        string  `json:"at"`
	Reachable bool    `json:"reachable"`  // false: each node keeps its share of the limits
	AwaySince *string `json:"away_since"` // null: it is reachable
}

func (s *System) backing() *storeRecord {
	if s.c.Stored == nil {
		return nil
	}
	is := s.c.Stored()
	if is.Kind == "" {
		return nil
	}
	return &storeRecord{shown(is.Kind), shown(is.Version), shown(is.At), is.Bytes}
}

func (s *System) counters() *countRecord {
	if s.c.Counters == nil {
		return nil
	}
	is := s.c.Counters()
	if is.Kind == "" {
		return &countRecord{}
	}
	v := &countRecord{Shared: true, Kind: shown(is.Kind), Version: shown(is.Version), At: shown(is.At),
		Reachable: !is.Away}
	if is.Away {
		v.AwaySince = adminapi.Stamp(is.Since)
	}
	return v
}

// Name names the store with its version.
func (r storeRecord) Name() string { return strings.TrimSpace(r.Kind + " " + r.Version) }

// Name names what counts with its version.
func (r countRecord) Name() string { return strings.TrimSpace(r.Kind + " " + r.Version) }

// shown cuts what a server has said, and drops what cannot be seen in it.
func shown(text string) string {
	const most = 200
	letters := []rune(page.Shown(strings.ToValidUTF8(text, "")))
	return string(letters[:min(len(letters), most)])
}

const module = "github.com/keystile/keystile"

// version returns that of Keystile, which is this program or a module of it.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return cmp.Or(m.Version, "(devel)")
		}
	}
	return "unknown"
})
