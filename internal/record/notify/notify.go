package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Names of queues. Those of capabilities have no colon.
const (
	Users = "users:"
	apps  = "app:"
)

// App returns the queue of what an application is told.
func App(id string) string { return apps + id }

// AppOf returns the client_id of the application whose queue it is, if it is one's.
func AppOf(queue string) (id string, ok bool) { return strings.CutPrefix(queue, apps) }

// Is reports whether a queue is one of these.
func Is(queue string) bool { return strings.Contains(queue, ":") }

// LogoutEvent is the event of a Logout.
const LogoutEvent = "logout"

// Logout says whose session has ended. It names no session of ours.
type Logout struct {
	Sub string `json:"sub"`
	SID string `json:"sid,omitempty"` // "": all sessions of the user
}

// ReadLogout reads what Payload has written.
func ReadLogout(payload []byte) (l Logout, err error) {
	if err = json.Unmarshal(payload, &l); err == nil && l.Sub == "" {
		err = errors.New("it names no user")
	}
	if err != nil {
		return l, fmt.Errorf("a queued logout is not readable: %w", err)
	}
	return l, nil
}

// Payload writes a Logout for a queue.
func (l Logout) Payload() []byte { return marshal(l) }

// The user events.
const (
	UserCreated  = "user.created"
	UserLinked   = "user.linked"   // a sign-in method was added
	UserUnlinked = "user.unlinked" // and removed
	UserLocked   = "user.locked"   // disabled: the user cannot sign in
	UserEnabled  = "user.enabled"
	UserChanged  = "user.changed"
	UserDeleted  = "user.deleted"
)

// UserEvent says what happened to an account: never a name, an address or a secret.
type UserEvent struct {
	Type    string   `json:"-"`
	Sub     string   `json:"sub"`
	Methods []string `json:"methods,omitempty"` // the sign-in methods, of UserCreated, UserLinked and UserUnlinked
	Fields  []string `json:"fields,omitempty"`  // those that differ, of UserChanged
}

// Payload writes the body that is sent, in the form of the events of capabilities. The time is that of the
// event, whenever it is sent.
func (e UserEvent) Payload(at time.Time) []byte {
	return marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      UserEvent `json:"data"`
	}{e.Type, at.UTC(), e})
}

func marshal(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and a time marshal
	}
	return body
}
