package mcpbus

import (
	"encoding/json"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
)

// Path is where the bus is (spec 4.9).
const Path = "/api/mcp"

const metadataRoot = "/.well-known/oauth-protected-resource"

// MetadataPaths are where the RFC 9728 document is: for the bus, and at the root for
// clients that look there alone.
func MetadataPaths() []string { return []string{metadataRoot, metadataRoot + Path} }

func (b *Bus) routes() []reply.Route {
	document := b.metadata()
	routes := []reply.Route{{Path: Path, Handle: b.serve, Fail: b.fail}}
	for _, path := range MetadataPaths() {
		routes = append(routes, reply.Route{Path: path, Methods: []string{"GET", "HEAD"},
			Handle: func(w http.ResponseWriter, r *http.Request) error {
				document.Write(w, r)
				return nil
			}})
	}
	return routes
}

// metadata is the protected resource's document (RFC 9728 2).
func (b *Bus) metadata() *reply.Document {
	body, _ := json.Marshal(struct { // texts and lists of texts never fail
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{b.uri, []string{b.c.Issuer}, b.c.Scopes, []string{"header"}, b.c.Name})
	return reply.NewDocument(body)
}
