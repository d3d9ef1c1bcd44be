package signin

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

func TestNewSaysEverythingThatIsWrongAtOnce(t *testing.T) {
	_, err := New(Config{BaseURL: "https://id.example.com/", SessionIdle: -time.Hour, Lock: Lock{Failures: -1}})
	for _, want := range []string{"BaseURL", "Store", "SessionIdle", "Lock"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want a word about %s", err, want)
		}
	}
}

func TestTheBaseURLIsAnOrigin(t *testing.T) {
	for base, want := range map[string]bool{
		"https://id.example.com": true, "http://127.0.0.1:8080": true, "https://[::1]:8443": true,
		"": false, "id.example.com": false, "https://": false, "https://id.example.com/": false, "https://id.example.com/x": false,
		"https://u@id.example.com": false, "https://id.example.com?x": false, "https://id.example.com#x": false, "ftp://id.example.com": false, "https://ID.example.com": false,
	} {
		if _, err := New(Config{BaseURL: base, Store: new(storage.Store)}); (err == nil) != want {
			t.Errorf("New(%q) = %v, want success %v", base, err, want)
		}
	}
}

// A host that has users of its own gives a store that keeps none.
func TestAStoreThatKeepsNoUsersWantsThemFromTheHost(t *testing.T) {
	rm := open(t, nil)
	if _, err := New(Config{BaseURL: origin, Store: bare{rm.store}}); err == nil || !strings.Contains(err.Error(), "Users: the Store keeps none") {
		t.Errorf("New without Users = %v", err)
	}
	if _, err := New(Config{BaseURL: origin, Store: bare{rm.store}, Users: rm.users}); err != nil {
		t.Errorf("New with Users = %v", err)
	}
}
