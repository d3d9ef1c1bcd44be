// Package switches describes the stored settings that change while the service runs, so that the command
// line and the console say the same of them.
package switches

import "github.com/keystile/keystile/storage"

// Switch describes one of them.
type Switch struct {
	Name    string   // that it is stored by
	Alias   string   // shorter, for people
	Values  []string // that it may have
	Default string   // what an unset one means
	Help    string   // in English
}

// All returns them, in the order in which they are shown.
func All() []Switch {
	return []Switch{
		{storage.SettingForcePKCE, "oauth_force_pkce", []string{"0", "1"}, "0",
			"0: PKCE is optional; 1: every authorization needs it"},
		{storage.SettingDefaultAccess, "default_access", []string{storage.AccessAuto, storage.AccessEveryone,
			storage.AccessOwner}, storage.AccessAuto,
			"who may use the tools of a capability without an access list: everyone; owner (and administrators); auto: " +
				"everyone while every way in is closed to people who are not users yet, else owner"},
	}
}
