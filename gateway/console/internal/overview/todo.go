package overview

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/storage"
)

// todo is something that waits for the reader.
type todo struct {
	Kind string `json:"kind"` // order, webhook, key, health, capability, offbus, factor or open
	Name string `json:"name"` // of what it is about; of orders how many wait
	Says string `json:"says"`
	Path string `json:"path"` // of the page that shows it
}

const (
	maxTodo  = 20
	maxShown = 120                  // characters of a text that others have written
	keyAge   = 180 * 24 * time.Hour // since the last rotation, after which a key is on the list
)

// ordersWait returns that orders wait for a decision.
func ordersWait(n int64) todo {
	return todo{Kind: "order", Name: fmt.Sprint(n), Path: "/console/orders"}
}

// openTools returns that strangers may use tools, if they may.
func (s *Overview) openTools(strangers bool) []todo {
	const named = 5
	if s.c.Unlisted == nil || !strangers {
		return nil
	}
	names, n := s.c.Unlisted(named)
	if n == 0 {
		return nil
	}
	says := strings.Join(names, ", ")
	if n > len(names) {
		says += ", …"
	}
	return []todo{{Kind: "open", Name: fmt.Sprint(n), Says: says, Path: "/console/access"}}
}

// keysWait returns the algorithms whose keys were not rotated for long. The next key is drawn when the
// active one begins to sign, so it tells when that was.
func keysWait(keys []storage.SigningKey, now time.Time) (all []todo) {
	rotated := map[string]time.Time{}
	for _, k := range keys {
		if k.State == storage.KeyNext {
			rotated[k.Alg] = k.CreatedAt
		}
	}
	for _, k := range keys {
		if k.State != storage.KeyActive {
			continue
		}
		since, ok := rotated[k.Alg]
		if !ok {
			since = k.CreatedAt
		}
		if age := now.Sub(since); age > keyAge && !since.IsZero() {
			all = append(all, todo{Kind: "key", Name: k.Alg, Says: fmt.Sprint(int(age.Hours() / 24)), Path: "/console/keys"})
		}
	}
	return all
}

// healthWaits returns what the service is not well by.
func healthWaits(vitals []system.Vital) (all []todo) {
	for _, v := range vitals {
		if !v.Well {
			all = append(all, todo{Kind: "health", Name: v.Name, Says: ui.Shown(v.Says, maxShown), Path: "/console/health"})
		}
	}
	return all
}

// capabilityWaits returns what of a capability was left out, and why it is not on the bus.
func capabilityWaits(c storage.Capability, whyUnlisted func(member string) string) (all []todo) {
	path := "/console/capabilities/" + url.PathEscape(c.Member)
	if c.Publish {
		if why := whyUnlisted(c.Member); why != "" {
			all = append(all, todo{Kind: "offbus", Name: c.Member, Says: ui.Shown(why, maxShown), Path: path})
		}
	}
	n := 0
	for _, s := range c.Skipped {
		if !s.Usual {
			n++
		}
	}
	if n > 0 {
		all = append(all, todo{Kind: "capability", Name: c.Member, Says: fmt.Sprint(n), Path: path})
	}
	return all
}

// webhookWaits returns how many deliveries to a capability's webhook were given up.
func webhookWaits(member string, all []storage.Delivery) []todo {
	n := 0
	for _, d := range all {
		if !d.Waiting() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []todo{{Kind: "webhook", Name: member, Says: fmt.Sprint(n),
		Path: "/console/capabilities/" + url.PathEscape(member) + "/deliveries"}}
}
