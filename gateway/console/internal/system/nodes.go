package system

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/nodes"
)

// Nodes lists the processes that serve from the store; *nodes.Node has it.
type Nodes interface {
	List(ctx context.Context) ([]nodes.Info, error)
}

// nodeRecord shows a node. Nothing in it says where the node is reached.
type nodeRecord struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	StartedAt string `json:"started_at"`
	BeatAge   int64  `json:"beat_age"` // seconds
	Live      bool   `json:"live"`
	Self      bool   `json:"self"` // it has answered
}

// listNodes serves GET /api/console/nodes: those too that went away lately without leaving.
func (s *System) listNodes(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	all, live := []nodeRecord{}, 0
	if s.c.Nodes != nil {
		list, err := s.c.Nodes.List(r.Context())
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			if n.Live {
				live++
			}
			all = append(all, nodeRecord{n.ID, n.Name, n.Build, n.Started.UTC().Format(adminapi.ISO8601), int64(n.Age.Seconds()),
				n.Live, n.Self})
		}
	}
	return struct {
		Nodes []nodeRecord `json:"nodes"`
		Live  int          `json:"live"`
	}{all, live}, nil
}
