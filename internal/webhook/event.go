package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
)

// What can become of a capability.
const (
	Registered = "capability.registered"
	Updated    = "capability.updated"
	Removed    = "capability.removed"
)

// payload is the body of a delivery. Its fields are copied one by one: a capability has
// credentials of its upstream, which are nobody's business.
type payload struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event, whenever it is sent
	Data      data      `json:"data"`
}

type data struct {
	Member    string `json:"member"`
	Kind      string `json:"kind"`
	ToolCount int    `json:"tool_count"`
}

// Events returns the deliveries that tell of a change, to be written together with it by
// storage's SaveCapability or DeleteCapability: none if the capability has no webhook.
// The message contains its ToolCount. The event is Registered, Updated or Removed.
func Events(event string, c storage.Capability) ([]storage.Delivery, error) {
	switch event {
	case Registered, Updated, Removed:
	default:
		return nil, fmt.Errorf("webhook: there is no event %q: use Registered, Updated or Removed", event)
	}
	if c.WebhookURL == "" {
		return nil, nil
	}
	body, err := json.Marshal(payload{event, time.Now().UTC(), data{c.Member, c.Kind, c.ToolCount}})
	if err != nil {
		return nil, fmt.Errorf("webhook: write the event: %w", err)
	}
	return []storage.Delivery{{Event: event, URL: c.WebhookURL, Secret: c.WebhookSecret, Payload: body}}, nil
}
