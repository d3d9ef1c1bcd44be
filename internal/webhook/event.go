package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// Events of a capability.
const (
	Registered = "capability.registered"
	Updated    = "capability.updated"
	Removed    = "capability.removed"

	changed = "capability.changed" // see Changed
)

// payload is the body of a delivery. Its fields are copied one by one: a capability has
// credentials of its upstream, which are nobody's business.
type payload struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event, whenever it is sent
	Data      any       `json:"data"`
}

type data struct {
	Member    string `json:"member"`
	Kind      string `json:"kind"`
	ToolCount int    `json:"tool_count"`
}

// Events returns the deliveries that announce a change, to be written together with it by
// storage's SaveCapability or DeleteCapability: none if the capability has no webhook.
// The message contains its ToolCount. The event is Registered, Updated or Removed.
func Events(event string, c storage.Capability) ([]storage.Delivery, error) {
	switch event {
	case Registered, Updated, Removed:
	default:
		return nil, fmt.Errorf("webhook: there is no event %q: use Registered, Updated or Removed", event)
	}
	return deliveries(c, event, data{c.Member, c.Kind, c.ToolCount})
}

func deliveries(c storage.Capability, event string, about any) ([]storage.Delivery, error) {
	if c.WebhookURL == "" {
		return nil, nil
	}
	body, err := json.Marshal(payload{event, time.Now().UTC(), about})
	if err != nil {
		return nil, fmt.Errorf("webhook: write the event: %w", err)
	}
	return []storage.Delivery{{Event: event, URL: c.WebhookURL, Secret: c.WebhookSecret, Payload: body}}, nil
}

// News names the tools that an upstream has changed, or lists anew, and that are held until they are accepted.
type News struct {
	Changed []string `json:"changed"`
	New     []string `json:"new"`
	Gone    []string `json:"gone"` // accepted, and not listed any more
	More    int      `json:"more"` // that are held too, and not named
	Digest  string   `json:"digest"`
}

// Changed returns the deliveries that announce tools that are held, none if the capability has no webhook.
func Changed(c storage.Capability, n News) ([]storage.Delivery, error) {
	return deliveries(c, changed, struct {
		data
		News
	}{data{c.Member, c.Kind, c.ToolCount}, n})
}

// named bounds the tools that a line names.
const named = 5

// Names lists the first tools that are held, in no language.
func (n News) Names() string {
	all := append(append([]string{}, n.Changed...), n.New...)
	if len(all)+n.More > named {
		return strings.Join(append(all[:min(len(all), named)], "…"), ", ")
	}
	return strings.Join(all, ", ")
}

// Text says in a line what is held.
func (n News) Text() string {
	var all []string
	for _, list := range []struct {
		what  string
		names []string
	}{{"changed", n.Changed}, {"new", n.New}, {"gone", n.Gone}} {
		if len(list.names) == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s (%s", len(list.names), list.what,
			strings.Join(list.names[:min(len(list.names), named)], ", "))
		if len(list.names) > named {
			text += ", …"
		}
		all = append(all, text+")")
	}
	if n.More > 0 {
		all = append(all, fmt.Sprintf("%d more", n.More))
	}
	return strings.Join(all, ", ")
}
