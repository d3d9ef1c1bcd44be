package system

import "github.com/keystile/keystile/storage"

// stringSwitch describes a stored setting that people change.
type stringSwitch struct {
	Name    string
	Values  []string // that it may have
	Default string   // of an unset one
	Help    string
}

// switches are those of "keystile setting".
var switches = []stringSwitch{
	{storage.SettingForcePKCE, []string{"0", "1"}, "0", "0: PKCE is optional; 1: every authorization needs it"},
	{storage.SettingDefaultAccess, []string{storage.AccessAuto, storage.AccessEveryone, storage.AccessOwner}, storage.AccessAuto,
		"who may use the tools of a capability without an access list: everyone; owner (and administrators); auto: everyone while sign-up is closed, else owner"},
}
