package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

// member is the name that all tools begin with.
const member = "keystile"

// register makes tools of the service's own document, as an administrator would at the
// console. Calls go out with the token: a tool acts in the name of the application that
// the token was issued to. It is good for a week; register again with the next one.
func register(ctx context.Context, h *host, origin, token string) (int, error) {
	var document map[string]any
	if err := fetch(ctx, origin+"/openapi.json", &document); err != nil {
		return 0, err
	}
	opened(document)
	text, err := json.Marshal(document)
	if err != nil {
		return 0, err
	}
	done, err := h.registry.Register(ctx, storage.User{Role: storage.RoleAdmin}, registry.Request{
		Member: member, Label: "This service", UpstreamURL: origin, OpenAPI: text,
		AuthType: "bearer", AuthSecret: storage.NewSecret(token),
	})
	if err == nil && len(done.Skipped) != 0 {
		err = fmt.Errorf("left out: %v", done.Skipped)
	}
	return done.ToolCount, err
}

// opened leaves in a document what a bearer token opens: the rest is for browsers, or asks
// for a client_secret, which an agent must not have. The bus is taken out as well, so that no
// call comes back to where it came from.
func opened(document map[string]any) {
	paths, _ := document["paths"].(map[string]any)
	for path, v := range paths {
		if path == mcpbus.Path || strings.HasPrefix(path, mcpbus.Path+"/") {
			delete(paths, path)
			continue
		}
		item, _ := v.(map[string]any)
		left := 0
		for _, method := range []string{"get", "post", "put", "delete", "patch"} {
			operation, there := item[method].(map[string]any)
			switch {
			case !there:
			case needsBearer(operation):
				left++
			default:
				delete(item, method)
			}
		}
		if left == 0 {
			delete(paths, path)
		}
	}
}

func needsBearer(operation map[string]any) bool {
	ways, _ := operation["security"].([]any)
	for _, way := range ways {
		if _, bearer := way.(map[string]any)["bearer"]; !bearer {
			return false
		}
	}
	return len(ways) > 0
}
