package apps

import (
	"fmt"

	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/state"
)

// features are those that a version needs to treat the application as it says.
func (a App) features() (needed []state.Feature) {
	if a.BackchannelLogoutURI != "" {
		needed = append(needed, document.Outgoing) // a version before would end sessions without a word
	}
	if a.Admission != nil {
		needed = append(needed, document.Admission) // a version before would admit everybody
	}
	if a.Keys != nil && !a.Keys.KeepSecret {
		needed = append(needed, document.ClientKeys) // a version before would take the appkey
	}
	return needed
}

// maxFilter bounds the patterns of GroupFilter.
const maxFilter = 50

func (a App) checkFilter() error {
	if len(a.GroupFilter) > maxFilter {
		return fmt.Errorf("group_filter: at most %d patterns", maxFilter)
	}
	for _, p := range a.GroupFilter {
		if err := claim.CheckPattern(p); err != nil {
			return fmt.Errorf("group_filter: %w", err)
		}
	}
	return nil
}

// Shown returns those of the groups of a user that the application learns of.
func (a App) Shown(names []string) []string {
	if len(a.GroupFilter) == 0 {
		return names
	}
	return claim.Matching(names, a.GroupFilter...)
}
