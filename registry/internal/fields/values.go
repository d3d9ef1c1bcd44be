package fields

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
)

// TimeoutRule describes a valid timeout.
var TimeoutRule = fmt.Sprintf("a whole number of seconds from 1 to %d", int(storage.MaxTimeout/time.Second))

// IsTimeout reports whether a call may take so many seconds.
func IsTimeout(seconds int) bool {
	return 1 <= seconds && seconds <= int(storage.MaxTimeout/time.Second)
}

// OnOff returns "on" and "off" as true and false, and everything else as it is.
func OnOff(raw json.RawMessage) json.RawMessage {
	switch string(raw) {
	case `"on"`:
		return json.RawMessage("true")
	case `"off"`:
		return json.RawMessage("false")
	}
	return raw
}
