package apps

import (
	"fmt"
	"slices"
	"time"
)

// Tiers (protocol 8).
const (
	TierFree       = "free"
	TierWhiteLabel = "white_label"
	TierEnterprise = "enterprise"

	// KeysAppID is the client_id that API keys speak for: of an application that is built in, and
	// that is of TierFree.
	KeysAppID = "apikey"

	// ConsoleAppID is the same for the calls that people make in the console, to try a tool.
	ConsoleAppID = "console"
)

var tiers = []string{TierFree, TierWhiteLabel, TierEnterprise}

// TierChange is a tier that an application has from a time on.
type TierChange struct {
	Tier string    `json:"tier"`
	At   time.Time `json:"at"`
}

// maxTiers bounds the history of an application. An older change counts as the beginning.
const maxTiers = 50

// TierAt returns the tier of an application at a time. No job runs when a tier changes:
// the history is read by the clock.
func (a App) TierAt(at time.Time) string {
	tier, _ := a.tierAt(at)
	return tier
}

// TierSince returns when the tier of a time began, zero if it has been from the beginning.
func (a App) TierSince(at time.Time) time.Time {
	_, since := a.tierAt(at)
	return since
}

func (a App) tierAt(at time.Time) (tier string, since time.Time) {
	tier = a.Tier
	for _, c := range a.Tiers {
		if at.Before(c.At) {
			break
		}
		tier, since = c.Tier, c.At
	}
	return tier, since
}

// TierUntil returns when the tier of a time ends, zero if no end is agreed on.
func (a App) TierUntil(at time.Time) time.Time {
	for _, c := range a.Tiers {
		if at.Before(c.At) {
			return c.At
		}
	}
	return time.Time{}
}

// SetTier gives the application a tier from a time on, until it is free again; a zero
// until is for good. Changes that were scheduled for later are dropped.
func (a *App) SetTier(tier string, from, until time.Time) {
	kept := slices.Clone(a.Tiers)
	kept = slices.DeleteFunc(kept, func(c TierChange) bool { return !c.At.Before(from) })
	a.Tiers = append(kept, TierChange{tier, from.UTC()})
	if !until.IsZero() {
		a.Tiers = append(a.Tiers, TierChange{TierFree, until.UTC()})
	}
	a.foldTiers()
}

// foldTiers drops changes that change nothing, and those beyond maxTiers.
func (a *App) foldTiers() {
	now := a.Tier
	a.Tiers = slices.DeleteFunc(a.Tiers, func(c TierChange) bool {
		same := c.Tier == now
		now = c.Tier
		return same
	})
	for len(a.Tiers) > maxTiers {
		a.Tier, a.Tiers = a.Tiers[0].Tier, a.Tiers[1:]
	}
}

// checkTiers returns what is wrong with the tiers.
func (a App) checkTiers() error {
	last := time.Time{}
	for _, c := range append([]TierChange{{Tier: a.Tier}}, a.Tiers...) {
		switch {
		case !slices.Contains(tiers, c.Tier):
			return fmt.Errorf("tier: %q is none of free, white_label, enterprise", c.Tier)
		case c.At.Before(last):
			return fmt.Errorf("tier: the changes are not in the order of time")
		}
		last = c.At
	}
	return nil
}
