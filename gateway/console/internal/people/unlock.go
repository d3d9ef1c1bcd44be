package people

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// unlocked lists the addresses that had failed attempts, and may sign in again.
type unlocked struct {
	Sub      string   `json:"sub"`
	Unlocked []string `json:"unlocked"`
	Account  bool     `json:"account"` // the account had failures, which are forgotten
}

// unlock serves POST /api/console/users/{sub}/unlock: for the account, and for one address or for those from
// which the user is signed in.
func (s *People) unlock(w http.ResponseWriter, r *http.Request, who admin.Actor, u storage.User) (any, error) {
	address, err := adminapi.ReadText(w, r, "address", "")
	if err != nil {
		return nil, err
	}
	tried := []string{address}
	if address == "" {
		all, err := s.live(r.Context(), u.Sub)
		if err != nil {
			return nil, err
		}
		tried = tried[:0]
		for _, v := range all {
			tried = append(tried, v.Address)
		}
		slices.Sort(tried)
		tried = slices.Compact(tried)
	}
	var from []netip.Addr
	for _, text := range tried {
		ip, err := netip.ParseAddr(text)
		if err == nil {
			from = append(from, ip)
		} else if address != "" {
			return nil, adminapi.BadBody.Saying(badAddress)
		}
	}
	had, account, err := s.acts.UnlockUser(r.Context(), who, u, from...)
	done := unlocked{Sub: u.Sub, Unlocked: []string{}, Account: account}
	for _, ip := range had {
		done.Unlocked = append(done.Unlocked, ip.String())
	}
	return done, err
}
