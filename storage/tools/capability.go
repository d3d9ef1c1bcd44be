package tools

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/secret"
	"github.com/keystile/keystile/storage/toolplan"
)

// Kinds of capabilities (protocol 2.7).
const (
	CapabilityREST   = "rest"   // tools of an OpenAPI document
	CapabilityMCP    = "mcp"    // tools that an upstream MCP endpoint lists
	CapabilityStatic = "static" // tools filled in by hand
)

// Capability is a group of tools and the one upstream that serves them (protocol 2.7, 4.8).
type Capability struct {
	Member        string           `json:"member"` // its name, and the prefix of its tools on the bus
	Label         string           `json:"label,omitempty"`
	Description   string           `json:"description,omitempty"`
	Kind          string           `json:"kind"`
	UpstreamURL   string           `json:"upstream_url"`
	AuthType      string           `json:"auth_type,omitempty"` // none, bearer, basic or api_key; "" is none
	AuthName      string           `json:"auth_name,omitempty"` // of api_key: the header or query parameter
	AuthIn        string           `json:"auth_in,omitempty"`   // of api_key: header or query
	AuthSecret    secret.Secret    `json:"-"`
	headers       secret.Secret    // see SecretHeaders: an object of texts in JSON
	WebhookURL    string           `json:"webhook_url,omitempty"`
	WebhookSecret secret.Secret    `json:"-"`
	Identity      lasthop.Identity `json:"identity,omitzero"` // what its upstream learns of callers; zero: nothing
	// seconds that one call may take; 0: defaultTimeout. See CallTimeout
	Timeout int  `json:"timeout,omitempty"`
	Publish bool `json:"publish"` // false: stored, not on the bus
	// what its upstream lists goes on the bus unaccepted; see AutoDiscover
	PinsOff    bool      `json:"pins_off,omitempty"`
	PinnedAt   time.Time `json:"pinned_at,omitzero"`   // when its tools were accepted; zero: see Pinned
	Owner      string    `json:"owner"`                // a user's sub
	OwnedSince time.Time `json:"owned_since,omitzero"` // see Since; written by the Store
	// of a new one: the owner for whom the name is kept and who is passed over
	TakenFrom string          `json:"-"`
	ToolCount int             `json:"tool_count"`
	Skipped   []toolplan.Skip `json:"skipped,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	Version   int64           `json:"-"`
	carried
}

// Since returns since when the name has been its owner's. A record that named the capability before, a consent, a
// token, an API key or a bundle, meant another owner's and does not open it (decision 100).
func (c Capability) Since() time.Time {
	if c.OwnedSince.IsZero() { // an older version wrote it
		return c.CreatedAt
	}
	return c.OwnedSince
}

// AutoDiscover reports whether the tools are listed by the upstream (auto_discover 1).
func (c Capability) AutoDiscover() bool { return c.Kind == CapabilityMCP }

// Pinned reports whether callers see only those tools of the upstream's that the owner has accepted (decision 92),
// which are the stored ones. First reports that there are none yet: what the upstream lists next is accepted. An older
// version, which has not written PinnedAt, has stored what was registered.
func (c Capability) Pinned() (pinned, first bool) {
	return c.AutoDiscover() && !c.PinsOff, c.PinnedAt.IsZero() && c.ToolCount == 0
}

// Pins returns whether it is Pinned in a word, on or off; "" for kinds that do not list their tools by themselves.
func (c Capability) Pins() string {
	switch pinned, _ := c.Pinned(); {
	case !c.AutoDiscover():
		return ""
	case pinned:
		return "on"
	}
	return "off"
}

// MaxTimeout bounds one call of a tool, from its request to the last byte of the answer.
const MaxTimeout = 10 * time.Minute

// defaultTimeout is the timeout of one call of a tool, from its request to the last byte of the
// answer, unless configured otherwise.
const defaultTimeout = 30 * time.Second

// CallTimeout returns how long one call of a tool may take: 1 s to MaxTimeout.
func (c Capability) CallTimeout() time.Duration {
	if c.Timeout <= 0 {
		return defaultTimeout
	}
	return time.Duration(min(c.Timeout, int(MaxTimeout/time.Second))) * time.Second
}

var Capabilities = document.Kind[Capability]{
	Name:    "capability",
	ID:      func(c Capability) string { return c.Member },
	Index:   func(c Capability) []string { return append(document.Owned(c.Owner), "all") },
	Version: func(c *Capability) *int64 { return &c.Version },
	Secrets: func(c *Capability) map[string]*secret.Secret {
		return map[string]*secret.Secret{"auth": &c.AuthSecret, "webhook": &c.WebhookSecret, "headers": &c.headers}
	},
}

// toolset is a capability's tools, in a document of their own: a list of capabilities does
// not read them. They are packed, because those of a large document are 5 MB of much the
// same text.
type toolset struct {
	Member  string `json:"member"`
	Packed  []byte `json:"packed"` // gzip of a JSON array of Tool
	Version int64  `json:"-"`
	carried
}

var toolsets = document.Kind[toolset]{
	Name:    "toolset",
	ID:      func(t toolset) string { return t.Member },
	Version: func(t *toolset) *int64 { return &t.Version },
}

// maxTools bounds what is unpacked, in bytes of JSON: what a registration may hold.
const maxTools = 32 << 20

// Capability returns a capability without its tools, or ErrNotFound.
func (s *Store) Capability(ctx context.Context, member string) (Capability, error) {
	return document.Get(ctx, s.docs, Capabilities, member)
}

// Capabilities returns a page of capabilities: all of them, or those of one owner (a sub).
func (s *Store) Capabilities(ctx context.Context, owner, from string, n int) ([]Capability, string, error) {
	span := driver.Is("all")
	if owner != "" {
		span = driver.Is("owner=" + owner)
	}
	span.From = cmp.Or(from, span.From)
	return document.List(ctx, s.docs, Capabilities, span, n)
}

// Tools returns a capability and its tools as they were written together, or ErrNotFound.
func (s *Store) Tools(ctx context.Context, member string) (Capability, []toolplan.Tool, error) {
	p, err := s.StoredPlace(ctx, member)
	if err != nil {
		return p.Capability, nil, err
	}
	tools, err := s.ToolsAt(ctx, p)
	return p.Capability, tools, err
}

// SaveCapability writes a capability and all its tools in one step: nobody sees the old
// tools with the new upstream. Version 0 creates it, and a name that differs from another's
// only in case, - and _, or is kept for another owner, is then refused with a *NameTaken. With any
// other Version its access list stays. Changes of its tools that are held are dropped where PinnedAt is zero or PinsOff
// is set. Events of the change are queued in the same step; of each Event, URL, Secret and Payload are read, and the
// rest is filled in.
func (s *Store) SaveCapability(ctx context.Context, c Capability, tools []toolplan.Tool,
	events ...Delivery) (Capability, error) {
	for {
		p, err := s.placeFor(ctx, c)
		if err != nil {
			return c, err
		}
		saved, err := s.SaveAt(ctx, p, c, tools, nil, events...)
		if err == nil {
			return saved.Capability, nil
		}
		if !besideIt(err) {
			return c, err
		}
	}
}

// placeFor returns the place that a capability is written to, which may be of another version.
func (s *Store) placeFor(ctx context.Context, c Capability) (Place, error) {
	if c.Version == 0 {
		return s.FindPlace(ctx, c.Member, "")
	}
	p, err := s.StoredPlace(ctx, c.Member)
	if errors.Is(err, document.ErrNotFound) {
		err = fmt.Errorf("%w: capability %q was removed", document.ErrConflict, c.Member)
	}
	return p, err
}

// DeleteCapability removes a capability, its tools, what is held of it and its access list, and queues the
// events of that as SaveCapability does. Its name is kept for its owner for 90 days.
func (s *Store) DeleteCapability(ctx context.Context, c Capability, events ...Delivery) error {
	_, err := s.changeWith(ctx, c.Member, events, func() ([]driver.Doc, error) {
		name, err := s.keep(ctx, c)
		if err != nil {
			return nil, err
		}
		list, err := withoutAccess(ctx, s.docs, c.Member)
		if err != nil {
			return nil, err
		}
		held, err := withoutHeld(ctx, s.docs, c.Member)
		return slices.Concat([]driver.Doc{
			{Kind: Capabilities.Name, ID: c.Member, Version: c.Version, Deleted: true},
			{Kind: toolsets.Name, ID: c.Member, Version: c.Version, Deleted: true},
		}, name, list, held), err
	})
	return err
}

func packTools(member string, tools []toolplan.Tool) ([]byte, error) {
	packed, err := pack(tools)
	if err != nil {
		err = fmt.Errorf("%w: capability %q: %w", document.ErrInvalid, member, err)
	}
	return packed, err
}

func pack(tools []toolplan.Tool) ([]byte, error) {
	list := make([]json.RawMessage, len(tools))
	for i := range tools {
		one, err := forward.Encode(&tools[i])
		if err != nil {
			return nil, err
		}
		list[i] = one
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	if len(text) > maxTools {
		return nil, fmt.Errorf("its tools are %d bytes, more than %d", len(text), maxTools)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(text) // a buffer takes everything
	err = w.Close()
	return out.Bytes(), err
}

// maxUnpacking bounds how many lists of tools are unpacked at a time: one may take 100 MB on the way.
const maxUnpacking = 4

func (s *Store) unpack(ctx context.Context, packed []byte) ([]toolplan.Tool, error) {
	select {
	case s.unpacking <- struct{}{}:
		defer func() { <-s.unpacking }()
		return unpack(packed)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func unpack(packed []byte) (tools []toolplan.Tool, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxTools+1))
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	tools = make([]toolplan.Tool, len(list))
	for i, one := range list {
		if tools[i], err = forward.Decode[toolplan.Tool](one); err != nil {
			return nil, err
		}
	}
	return tools, nil
}
