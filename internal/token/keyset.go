package token

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// keyset is an immutable view of the keys, good until the first retired one leaves.
type keyset struct {
	keys   []*key          // in the order they are published
	byID   map[string]*key // every published key verifies, next ones too: another node may have made them active
	active map[string]*key // by algorithm
	algs   []string
	until  time.Time // zero: for good
	jwks   *reply.Document
}

func newKeyset(keys []*key, wanted []string, now time.Time) *keyset {
	s := &keyset{byID: map[string]*key{}, active: map[string]*key{}}
	for _, k := range slices.SortedFunc(slices.Values(keys), published) {
		if k.gone(now) {
			continue
		}
		s.keys = append(s.keys, k)
		s.byID[k.ID] = k
		if k.State == storage.KeyActive && s.active[k.Alg] == nil {
			s.active[k.Alg] = k
		}
		if k.leaves() && (s.until.IsZero() || k.ExpiresAt.Before(s.until)) {
			s.until = k.ExpiresAt
		}
	}
	s.algs = order(s.active, wanted)
	s.publish()
	return s
}

func (s *keyset) find(kid string) (publicKey, bool) {
	k := s.byID[kid]
	if k == nil {
		return publicKey{}, false
	}
	return publicKey{k.ID, k.Alg, k.private.Public()}, true
}

// published orders keys for the JWKS: active ones first, because a client that tries them
// in turn then needs one try; of one state the newest first.
func published(a, b *key) int {
	return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
}

func rank(state string) int {
	return slices.Index([]string{storage.KeyActive, storage.KeyNext, storage.KeyRetired}, state)
}

// leaves reports whether the key has an end. Only a retired one does: an active key with
// an end would stop the service at that moment.
func (k *key) leaves() bool { return k.State == storage.KeyRetired && !k.ExpiresAt.IsZero() }

func (k *key) gone(now time.Time) bool { return k.leaves() && !now.Before(k.ExpiresAt) }

// order lists the algorithms with an active key: as configured, then those an earlier
// configuration left behind.
func order(active map[string]*key, wanted []string) (algs []string) {
	for _, alg := range slices.Concat(wanted, []string{ES256, EdDSA, RS256}) {
		if active[alg] != nil && !slices.Contains(algs, alg) {
			algs = append(algs, alg)
		}
	}
	return algs
}

func (s *keyset) publish() {
	jwks := make([]string, len(s.keys))
	for i, k := range s.keys {
		jwks[i] = k.jwk
	}
	s.jwks = reply.NewDocument([]byte(`{"keys":[` + strings.Join(jwks, ",") + `]}`))
}
