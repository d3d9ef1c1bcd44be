package notify // import "github.com/keystile/keystile/storage/notify"

import "time"

func App(id string) string

func AppOf(queue string) (id string, ok bool)

func Is(queue string) bool

type Logout struct {
	Sub string "json:\"sub\""
	SID string "json:\"sid,omitempty\""
}

func (Logout) Payload() []byte

const LogoutEvent = "logout"

func ReadLogout(payload []byte) (l Logout, err error)

const UserChanged = "user.changed"

const UserCreated = "user.created"

const UserDeleted = "user.deleted"

const UserEnabled = "user.enabled"

type UserEvent struct {
	Type    string   "json:\"-\""
	Sub     string   "json:\"sub\""
	Methods []string "json:\"methods,omitempty\""
	Fields  []string "json:\"fields,omitempty\""
}

func (UserEvent) Payload(at time.Time) []byte

const UserLinked = "user.linked"

const UserLocked = "user.locked"

const UserUnlinked = "user.unlinked"

const Users = "users:"
