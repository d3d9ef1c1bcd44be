package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

func revoking() []promise {
	return []promise{
		{"a grant's revocation ends its tokens, whenever they were granted", func(t *testing.T, b storage.Backend) {
			ends(t, b, storage.RevokeGrant, "grant a", at(-600), true)
			ends(t, b, storage.RevokeGrant, "grant a", time.Time{}, true)
		}},
		{"an application's revocation ends what was granted before it, to the nanosecond", func(t *testing.T, b storage.Backend) {
			ends(t, b, storage.RevokeApp, "app a", at(0), false)
			ends(t, b, storage.RevokeApp, "app a", at(0).Add(1), true)
		}},
		{"a user's revocation ends what was granted before it, to the nanosecond", func(t *testing.T, b storage.Backend) {
			ends(t, b, storage.RevokeUser, "user a", at(0), false)
			ends(t, b, storage.RevokeUser, "user a", at(0).Add(1), true)
		}},
		{"a consent's revocation ends what its user granted its application before it, to the nanosecond", func(t *testing.T, b storage.Backend) {
			both := storage.ConsentID("app a", "user a")
			ends(t, b, storage.RevokeConsent, both, at(0), false)
			ends(t, b, storage.RevokeConsent, both, at(0).Add(1), true)
		}},
		{"an access token's revocation ends no stored token", func(t *testing.T, b storage.Backend) {
			for _, id := range []string{"grant a", "app a", "user a"} {
				ends(t, b, storage.RevokeJTI, id, at(600), false)
			}
		}},
		{"a revocation ends nothing of another name or kind", func(t *testing.T, b storage.Backend) {
			ends(t, b, storage.RevokeGrant, "app a", at(600), false)
			ends(t, b, storage.RevokeApp, "user a", at(600), false)
			ends(t, b, storage.RevokeUser, "user a2", at(600), false)
			ends(t, b, storage.RevokeUser, "user ", at(600), false)
			ends(t, b, storage.RevokeConsent, storage.ConsentID("app a", "user b"), at(600), false)
			ends(t, b, storage.RevokeConsent, storage.ConsentID("app b", "user a"), at(600), false)
			ends(t, b, storage.RevokeConsent, "app a", at(600), false)
		}},
		{"a token that is issued after the revocation is ended too", func(t *testing.T, b storage.Backend) {
			revoke(t, b, storage.Revocation{Kind: storage.RevokeGrant, ID: "grant a", Until: at(600)})
			x := token("a")
			issue(t, b, x)
			want(t, "Exchange(revoked)", b.Exchange(t.Context(), x.Key, at(1)), storage.ErrRevoked)
		}},
		{"a revoked token can be read", func(t *testing.T, b storage.Backend) {
			x := token("a")
			issue(t, b, x)
			revoke(t, b, storage.Revocation{Kind: storage.RevokeGrant, ID: "grant a", Until: at(600)})
			sameToken(t, read(t, b, x.Key), x)
		}},
		{"a revocation holds until it is swept, not until its Until", func(t *testing.T, b storage.Backend) {
			ends(t, b, storage.RevokeGrant, "grant a", time.Time{}, true)
			x := token("a")
			issue(t, b, x)
			want(t, "Exchange(revoked)", b.Exchange(t.Context(), x.Key, at(6000)), storage.ErrRevoked)
		}},
		{"a successor that appears beside a revocation cannot be exchanged", successorBesideRevoke},
	}
}

func joining() []promise {
	return []promise{
		{"joining never moves Before back", func(t *testing.T, b storage.Backend) {
			revoke(t, b, storage.Revocation{Kind: storage.RevokeApp, ID: "app a", Before: at(1), Until: at(600)})
			ends(t, b, storage.RevokeApp, "app a", at(-1), true)
		}},
		{"joining moves Before on", func(t *testing.T, b storage.Backend) {
			revoke(t, b, storage.Revocation{Kind: storage.RevokeApp, ID: "app a", Before: at(-1), Until: at(600)})
			ends(t, b, storage.RevokeApp, "app a", at(1), true)
		}},
	}
}

// ends revokes, and says whether a token of family a, granted at noon, is ended by it.
func ends(t *testing.T, b storage.Backend, kind, id string, before time.Time, ended bool) {
	t.Helper()
	x, next := token("a"), token("a")
	issue(t, b, x)
	revoke(t, b, storage.Revocation{Kind: kind, ID: id, Before: before, Until: at(600)})
	call := fmt.Sprintf("Exchange(token granted at %v) with %s %q revoked before %v", x.GrantedAt, kind, id, before)
	var verdict error
	if ended {
		verdict = storage.ErrRevoked
	}
	want(t, call, b.Exchange(t.Context(), x.Key, at(1), next), verdict)
	if ended {
		sameToken(t, read(t, b, x.Key), x)
		absent(t, b, next)
	}
}

func successorBesideRevoke(t *testing.T, b storage.Backend) {
	for round := range 50 {
		family := fmt.Sprint(round)
		code, next := token(family), token(family)
		issue(t, b, code)
		verdicts := together(2, func(i int) error {
			if i == 0 {
				return b.Exchange(t.Context(), code.Key, at(1), next)
			}
			return b.Revoke(t.Context(), storage.Revocation{Kind: storage.RevokeGrant, ID: code.Grant, Until: at(600)})
		})
		want(t, "Revoke(grant)", verdicts[1], nil)
		if verdicts[0] == nil {
			want(t, "Exchange(successor)", b.Exchange(t.Context(), next.Key, at(2)), storage.ErrRevoked)
			continue
		}
		want(t, "Exchange(code)", verdicts[0], storage.ErrRevoked)
		absent(t, b, next)
	}
}
