package system

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/serviceacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Keys are the keys that sign tokens.
type Keys interface {
	serviceacts.Keys
	SigningAlg() string
}

var (
	// protocol 7
	noKeys = &reply.Failure{Status: 404,
		Msg: "the signing keys are not shown here: the host of this service did not give them to the console"}
	// protocol 7
	noKey = &reply.Failure{Status: 404, Msg: "no such key: see GET /api/console/keys for those there are"}
	// protocol 7
	rotating = &reply.Failure{Status: 409, Msg: "somebody else is rotating the keys at this moment: look at them again"}
)

// keyRecord shows a signing key, never what it signs with.
type keyRecord struct {
	KID       string  `json:"kid"`
	Alg       string  `json:"alg"`
	State     string  `json:"state"`
	CreatedAt string  `json:"created_at"`
	RetiredAt *string `json:"retired_at"`
	ExpiresAt *string `json:"expires_at"` // when it is no longer published, and what it signed no longer valid
}

// keysRecord shows the keys. Master is the id of the master key, which reveals nothing of it.
type keysRecord struct {
	Keys     []keyRecord `json:"keys"`
	Alg      string      `json:"signing_alg"` // of access tokens
	Master   string      `json:"master_key_id"`
	Rekeying bool        `json:"master_key_changing"`

	Algs []string `json:"-"` // that can be rotated
}

// listKeys serves GET /api/console/keys.
func (s *System) listKeys(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	if s.c.Keys == nil {
		return nil, noKeys
	}
	all, err := s.c.Keys.SigningKeys(r.Context())
	if err != nil {
		return nil, err
	}
	v := keysRecord{Keys: []keyRecord{}, Alg: s.c.Keys.SigningAlg()}
	if v.Master, err = s.c.Store.SealedWith(r.Context()); err != nil {
		return nil, err
	}
	if v.Rekeying, err = s.c.Store.Rekeying(r.Context()); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b storage.SigningKey) int {
		return cmp.Or(cmp.Compare(a.Alg, b.Alg), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	now := time.Now()
	for _, k := range all {
		if k.State == storage.KeyRetired && !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
			continue // it is withdrawn, and not swept yet
		}
		v.Keys = append(v.Keys, keyRecordOf(k))
		if !slices.Contains(v.Algs, k.Alg) {
			v.Algs = append(v.Algs, k.Alg)
		}
	}
	return v, nil
}

func keyRecordOf(k storage.SigningKey) keyRecord {
	return keyRecord{k.ID, k.Alg, k.State, k.CreatedAt.UTC().Format(adminapi.ISO8601), adminapi.Stamp(k.RetiredAt),
		adminapi.Stamp(k.ExpiresAt)}
}

// rotateKey serves POST /api/console/keys/rotate.
func (s *System) rotateKey(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if s.c.Keys == nil {
		return nil, noKeys
	}
	alg, err := adminapi.ReadText(w, r, "alg", s.c.Keys.SigningAlg())
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"ES256", "EdDSA", "RS256"}, alg) {
		return nil, adminapi.BadBody.Saying("alg is one of ES256, EdDSA and RS256")
	}
	k, err := s.c.Acts.RotateKey(r.Context(), who, alg)
	if errors.Is(err, storage.ErrConflict) {
		return nil, rotating
	}
	return keyRecordOf(k), adminapi.Refusal(err, noKey)
}

// retireKey serves POST /api/console/keys/retire.
func (s *System) retireKey(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if s.c.Keys == nil {
		return nil, noKeys
	}
	kid, err := adminapi.ReadText(w, r, "kid", "")
	if err != nil {
		return nil, err
	}
	err = s.c.Acts.RetireKey(r.Context(), who, kid)
	return struct {
		KID       string `json:"kid"`
		Withdrawn bool   `json:"withdrawn"`
	}{kid, true}, adminapi.Refusal(err, noKey)
}
