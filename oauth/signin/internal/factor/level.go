package factor

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Levels of a sign-in, as acr_values ask for them and acr tells them.
const (
	LevelMulti     = "mfa" // two factors
	LevelResistant = "phr" // phishing-resistant: a passkey (OpenID Connect EAP ACR Values 1.0)
)

// Levels holds them, the lowest first.
var Levels = []string{LevelMulti, LevelResistant}

// LevelOf returns the level of a session, "" if it began with one factor.
func LevelOf(v storage.Session) string {
	amr := strings.Fields(v.AMR)
	switch {
	case !v.Multifactor():
		return ""
	case slices.Contains(amr, authn.AMRHardware), slices.Contains(amr, authn.AMRSoftware):
		return LevelResistant
	}
	return LevelMulti
}

// Meets reports whether a level is what is wanted, or higher.
func Meets(level, wanted string) bool {
	return wanted == "" || slices.Index(Levels, level) >= slices.Index(Levels, wanted)
}

// Wanted returns the level that an application asks for: the lowest of its acr_values, which may name levels
// that nobody here knows, and two factors where the application requires them.
func Wanted(app storage.App, acrValues string) string {
	lowest := ""
	for asked := range strings.FieldsSeq(acrValues) {
		if slices.Contains(Levels, asked) && (lowest == "" || !Meets(asked, lowest)) {
			lowest = asked
		}
	}
	if lowest == "" && app.MFA == authn.MFARequired {
		lowest = LevelMulti
	}
	return lowest
}

// Told returns the acr that an application is told of a session: of its acr_values the first that is met, else
// the level itself.
func Told(v storage.Session, acrValues string) string {
	level := LevelOf(v)
	for asked := range strings.FieldsSeq(acrValues) {
		if slices.Contains(Levels, asked) && Meets(level, asked) {
			return asked
		}
	}
	return level
}
