package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// host is the service with an API of its own behind it.
type host struct{ *keystile.Service }

// newHost assembles it. The caller closes it, once no request is on its way.
func newHost(ctx context.Context, origin string, backend driver.Backend) (*host, error) {
	s, err := keystile.New(ctx, keystile.Config{
		BaseURL: origin, Backend: backend, MasterKey: storage.NewMasterKey(),
		// The API of this example is on this machine. Without the list, no call reaches it.
		AllowPrivateUpstreams: []string{"127.0.0.0/8"},
	})
	if err != nil {
		return nil, err
	}
	s.Handle("/weather/", http.HandlerFunc(weather))
	return &host{s}, nil
}

// document describes the API below.
//
//go:embed weather.yaml
var document []byte

// register makes tools of the document, as an administrator would at the console or with
// keystile capability register.
func (h *host) register(ctx context.Context, origin string) error {
	done, err := h.Registry.Register(ctx, storage.User{Role: storage.RoleAdmin}, registry.Request{
		Member: "sky", UpstreamURL: origin, OpenAPI: document,
	})
	if err == nil && done.ToolCount != 1 {
		err = fmt.Errorf("%d tools were made: %v", done.ToolCount, done.Skipped)
	}
	return err
}

// weather is the API. The caller's token never gets here: a call is the bus's own request.
func weather(w http.ResponseWriter, r *http.Request) {
	degrees := map[string]int{"": 21, "C": 21, "F": 70}[r.URL.Query().Get("unit")]
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"city": r.URL.Path[len("/weather/"):], "degrees": degrees})
}
