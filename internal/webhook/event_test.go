package webhook

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// full has something in every field that must not be told.
func full() storage.Capability {
	return storage.Capability{
		Member: "pets", Label: "Pets", Kind: storage.CapabilityREST, UpstreamURL: "https://upstream.example/HIDDEN",
		AuthType: "api_key", AuthName: "HIDDEN", AuthIn: "query", AuthSecret: storage.NewSecret("HIDDEN"),
		WebhookURL: "https://hook.example/", WebhookSecret: storage.NewSecret("HIDDEN"), Owner: "HIDDEN", ToolCount: 3,
	}
}

func TestEventTellsOfACapabilityAndNothingOfItsSecrets(t *testing.T) {
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	time.Local = time.FixedZone("east", 8*3600)
	synctest.Test(t, func(t *testing.T) { // its clock begins with the year 2000
		for _, event := range []string{"capability.registered", "capability.updated", "capability.removed"} {
			list, err := Events(event, full())
			if err != nil || len(list) != 1 {
				t.Fatalf("Events(%s) = %v, %v, want one", event, list, err)
			}
			want := `{"type":"` + event + `","timestamp":"2000-01-01T00:00:00Z","data":{"member":"pets","kind":"rest","tool_count":3}}`
			if d := list[0]; string(d.Payload) != want || d.Event != event || d.URL != "https://hook.example/" ||
				!d.Secret.Equal("HIDDEN") {
				t.Errorf("Events(%s) = %s to %s, want %s", event, d.Payload, d.URL, want)
			}
		}
	})
}

func TestCapabilityWithoutWebhookHasNoEvents(t *testing.T) {
	c := full()
	c.WebhookURL = ""
	if list, err := Events(Updated, c); err != nil || len(list) != 0 {
		t.Errorf("Events() = %v, %v, want none", list, err)
	}
}

func TestUnknownEventIsRefused(t *testing.T) {
	if list, err := Events("capability.renamed", full()); err == nil || list != nil ||
		!strings.Contains(err.Error(), "capability.renamed") {
		t.Errorf("Events() = %v, %v, want an error that names it", list, err)
	}
}
