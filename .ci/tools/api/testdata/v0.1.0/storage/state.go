package state // import "github.com/keystile/keystile/storage/state"

type Change struct {
	Kind string
	IDs  []string
}

const ChangedAccess = "access"

const ChangedApps = "app"

const ChangedBundles = "bundle"

const ChangedCapabilities = "capability"

const ChangedKeys = "key"

const ChangedSettings = "setting"

const ChangedUsers = "user"

type Counts struct {
	Users      int64
	Apps       int64
	OpenOrders int64
	Whole      bool
}

type Feature struct {
	Name  string "json:\"name\""
	Since string "json:\"since\""
}
