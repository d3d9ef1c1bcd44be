package people

import (
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// factorRecord shows which second factors a user has, and nothing that proves them.
type factorRecord struct {
	Username      string  `json:"-"` // for the page
	Sub           string  `json:"sub"`
	Authenticator bool    `json:"authenticator"`
	Passkeys      int     `json:"passkeys"`
	RecoveryCodes int     `json:"recovery_codes"` // that are left
	WrongCodes    int     `json:"wrong_codes"`    // that were typed since a factor was right
	Rest          bool    `json:"-"`              // codes of the app are taken only after a first factor by email
	Stopped       bool    `json:"-"`              // no code is taken
	DueSince      *string `json:"due_since"`      // since when one is required of a user who has none; null: it is not
}

func factorsOf(u storage.User, f storage.Factors) factorRecord {
	return factorRecord{
		Username: u.Username, Sub: u.Sub, Authenticator: f.Authenticator != nil, Passkeys: len(f.Passkeys),
		RecoveryCodes: f.CodesLeft(),
		WrongCodes:    f.WrongCodes, Rest: f.CodesRest(), Stopped: f.CodesStopped(), DueSince: adminapi.Stamp(f.DueSince),
	}
}

// Any reports whether the user has a second factor.
func (f factorRecord) Any() bool { return f.Authenticator || f.Passkeys > 0 }

// listFactors serves GET /api/console/users/{sub}/factors.
func (s *People) listFactors(_ http.ResponseWriter, r *http.Request, _ admin.Actor, u storage.User) (any, error) {
	f, err := s.c.Store.Factors(r.Context(), u.Sub)
	return factorsOf(u, f), err
}

// resetFactors serves DELETE /api/console/users/{sub}/factors, for a user who has lost them.
func (s *People) resetFactors(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	_, after, err := s.acts.ResetFactors(r.Context(), who, u.Sub)
	return factorsOf(u, after), err
}
