package registry

import (
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// The JSON that the console receives. No type here has a field for a secret.

// registerResult holds the data of a registration (protocol 4.8).
type registerResult struct {
	Member    string          `json:"member"`
	Kind      string          `json:"kind"`
	ToolCount int             `json:"tool_count"`
	Skipped   []toolplan.Skip `json:"skipped"`
	Removed   []string        `json:"removed,omitempty"` // tools that were there and are not any more
	Warning   string          `json:"warning,omitempty"`
}

func newRegisterResult(r Registered) registerResult {
	return registerResult{r.Member, r.Kind, r.ToolCount, nonNil(r.Skipped), r.Removed, r.Warning}
}

// previewResult holds the data of a preview.
type previewResult struct {
	registerResult
	Tools []toolplan.Tool `json:"tools_static"`
	Lint  []string        `json:"lint,omitempty"`
}

// summary holds an entry of the list.
type summary struct {
	Member       string    `json:"member"`
	Label        string    `json:"label"`
	Description  string    `json:"description"`
	Kind         string    `json:"kind"`
	AutoDiscover int       `json:"auto_discover"` // 0 or 1 (protocol 2.7)
	UpstreamURL  string    `json:"upstream_url"`
	AuthType     string    `json:"auth_type"`
	Timeout      int       `json:"timeout"` // seconds
	Publish      bool      `json:"publish"`
	Pins         string    `json:"pins,omitempty"` // on or off, of a kind that lists its tools by itself
	ToolCount    int       `json:"tool_count"`
	Owner        string    `json:"owner"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Warning      string    `json:"warning,omitempty"`
}

func newSummary(c storage.Capability, warning string) summary {
	s := summary{
		Member: c.Member, Label: c.Label, Description: c.Description, Kind: c.Kind, UpstreamURL: c.UpstreamURL,
		AuthType: c.AuthType, Timeout: int(c.CallTimeout() / time.Second), Publish: c.Publish, Pins: c.Pins(),
		ToolCount: c.ToolCount, Owner: c.Owner,
		CreatedAt: c.CreatedAt.Truncate(time.Second), UpdatedAt: c.UpdatedAt.Truncate(time.Second), Warning: warning,
	}
	if s.AuthType == "" {
		s.AuthType = authNone
	}
	if c.AutoDiscover() {
		s.AutoDiscover = 1
	}
	return s
}

// connection holds how a capability reaches its upstream and who is told of changes, without the secrets.
type connection struct {
	AuthName    string   `json:"auth_name,omitempty"`
	AuthIn      string   `json:"auth_in,omitempty"`
	HeaderNames []string `json:"header_names,omitempty"` // the values are secrets
	WebhookURL  string   `json:"webhook_url,omitempty"`

	Identity string `json:"identity"` // none, headers or signed
	Subject  string `json:"identity_subject,omitempty"`
	JTI      string `json:"identity_jti,omitempty"`
}

func newConnection(c storage.Capability) connection {
	i := c.Identity.Shown()
	return connection{c.AuthName, c.AuthIn, c.HeaderNames(), c.WebhookURL, i.Kind, i.Subject, i.JTI}
}

// updateResult holds the data of an update: what the capability is now, but for its tools.
type updateResult struct {
	summary
	connection
}

// capabilityView holds one capability with its tools.
type capabilityView struct {
	summary
	connection
	Tools   []toolplan.Tool `json:"tools_static"`
	Skipped []toolplan.Skip `json:"skipped"`
}

func newCapabilityView(r Registered) capabilityView {
	return capabilityView{newSummary(r.Capability, r.Warning), newConnection(r.Capability), toolplan.Public(r.Tools),
		nonNil(r.Skipped)}
}

// nonNil returns a list that is never null in JSON.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
