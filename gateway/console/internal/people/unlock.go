package people

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
)

// unlocked lists the addresses that had failed attempts, and may sign in again.
type unlocked struct {
	Sub      string   `json:"sub"`
	Unlocked []string `json:"unlocked"`
	Account  bool     `json:"account"` // the account had failures, which are forgotten
}

// unlock serves POST /api/console/users/{sub}/unlock: for the account, and for one address or for those from
// which the user is signed in.
func (s *People) unlock(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	f, err := manage.ReadFields(w, r, "address")
	if err != nil {
		return nil, err
	}
	address, tried := "", []string{}
	if err := f.Read("address", "a text", &address); err != nil {
		return nil, err
	}
	if tried = append(tried, address); address == "" {
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
	done, changes := unlocked{Sub: u.Sub, Unlocked: []string{}}, []string{}
	for _, text := range tried {
		ip, err := netip.ParseAddr(text)
		if err != nil && address != "" {
			return nil, manage.BadBody.Saying(badAddress)
		}
		if err == nil && s.c.Unlock != nil && s.c.Unlock(r.Context(), ip.Unmap()) {
			done.Unlocked = append(done.Unlocked, ip.Unmap().String())
			changes = append(changes, "failed sign-ins from "+ip.Unmap().String()+" -> forgotten")
		}
	}
	if s.c.UnlockUser != nil && s.c.UnlockUser(r.Context(), u) {
		done.Account = true
		changes = append(changes, "failed sign-ins at the account -> forgotten")
	}
	return done, s.c.Recorder.Note(r.Context(), who, admin.Act{What: "user unlock", On: u.Sub, User: u.Sub, Changes: changes})
}
