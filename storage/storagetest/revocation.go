package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func revoking() []promise {
	return []promise{
		{name: "a grant's revocation ends its tokens, whenever they were granted",
			test: func(t testing.TB, b driver.Backend) {
				ends(t, b, driver.RevokeGrant, "grant a", at(-600), true)
				ends(t, b, driver.RevokeGrant, "grant a", time.Time{}, true)
			}},
		{name: "an application's revocation ends what was granted before it, to the nanosecond",
			test: func(t testing.TB, b driver.Backend) {
				ends(t, b, driver.RevokeApp, "app a", at(0), false)
				ends(t, b, driver.RevokeApp, "app a", at(0).Add(1), true)
			}},
		{name: "a user's revocation ends what was granted before it, to the nanosecond",
			test: func(t testing.TB, b driver.Backend) {
				ends(t, b, driver.RevokeUser, "user a", at(0), false)
				ends(t, b, driver.RevokeUser, "user a", at(0).Add(1), true)
			}},
		{name: "a consent's revocation ends what its user granted its application before it, to the nanosecond",
			test: func(t testing.TB, b driver.Backend) {
				both := driver.ConsentID("app a", "user a")
				ends(t, b, driver.RevokeConsent, both, at(0), false)
				ends(t, b, driver.RevokeConsent, both, at(0).Add(1), true)
			}},
		{name: "an access token's revocation ends no stored token", test: func(t testing.TB, b driver.Backend) {
			for _, id := range []string{"grant a", "app a", "user a"} {
				ends(t, b, driver.RevokeJTI, id, at(600), false)
			}
		}},
		{name: "a revocation ends nothing of another name or kind", test: func(t testing.TB, b driver.Backend) {
			ends(t, b, driver.RevokeGrant, "app a", at(600), false)
			ends(t, b, driver.RevokeApp, "user a", at(600), false)
			ends(t, b, driver.RevokeUser, "user a2", at(600), false)
			ends(t, b, driver.RevokeUser, "user ", at(600), false)
			ends(t, b, driver.RevokeConsent, driver.ConsentID("app a", "user b"), at(600), false)
			ends(t, b, driver.RevokeConsent, driver.ConsentID("app b", "user a"), at(600), false)
			ends(t, b, driver.RevokeConsent, "app a", at(600), false)
		}},
		{name: "a token that is issued after the revocation is ended too", test: func(t testing.TB, b driver.Backend) {
			revoke(t, b, driver.Revocation{Kind: driver.RevokeGrant, ID: "grant a", Until: at(600)})
			x := token("a")
			issue(t, b, x)
			want(t, "Exchange(revoked)", b.Exchange(t.Context(), x.Key, at(1)), driver.ErrRevoked)
		}},
		{name: "a revoked token can be read", test: func(t testing.TB, b driver.Backend) {
			x := token("a")
			issue(t, b, x)
			revoke(t, b, driver.Revocation{Kind: driver.RevokeGrant, ID: "grant a", Until: at(600)})
			sameToken(t, read(t, b, x.Key), x)
		}},
		{name: "a revocation holds until it is swept, not until its Until", test: func(t testing.TB, b driver.Backend) {
			ends(t, b, driver.RevokeGrant, "grant a", time.Time{}, true)
			x := token("a")
			issue(t, b, x)
			want(t, "Exchange(revoked)", b.Exchange(t.Context(), x.Key, at(6000)), driver.ErrRevoked)
		}},
		{name: "a successor that appears beside a revocation cannot be exchanged", test: successorBesideRevoke},
	}
}

func joining() []promise {
	return []promise{
		{name: "joining never moves Before back", test: func(t testing.TB, b driver.Backend) {
			revoke(t, b, driver.Revocation{Kind: driver.RevokeApp, ID: "app a", Before: at(1), Until: at(600)})
			ends(t, b, driver.RevokeApp, "app a", at(-1), true)
		}},
		{name: "joining moves Before on", test: func(t testing.TB, b driver.Backend) {
			revoke(t, b, driver.Revocation{Kind: driver.RevokeApp, ID: "app a", Before: at(-1), Until: at(600)})
			ends(t, b, driver.RevokeApp, "app a", at(1), true)
		}},
	}
}

// ends revokes, and reports whether that ends a token of family a, granted at noon.
func ends(t testing.TB, b driver.Backend, kind, id string, before time.Time, ended bool) {
	t.Helper()
	x, next := token("a"), token("a")
	issue(t, b, x)
	revoke(t, b, driver.Revocation{Kind: kind, ID: id, Before: before, Until: at(600)})
	call := fmt.Sprintf("Exchange(token granted at %v) with %s %q revoked before %v", x.GrantedAt, kind, id, before)
	var verdict error
	if ended {
		verdict = driver.ErrRevoked
	}
	want(t, call, b.Exchange(t.Context(), x.Key, at(1), next), verdict)
	if ended {
		sameToken(t, read(t, b, x.Key), x)
		absent(t, b, next)
	}
}

func successorBesideRevoke(t testing.TB, b driver.Backend) {
	for round := range 50 {
		family := fmt.Sprint(round)
		code, next := token(family), token(family)
		issue(t, b, code)
		verdicts := together(2, func(i int) error {
			if i == 0 {
				return b.Exchange(t.Context(), code.Key, at(1), next)
			}
			return b.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: code.Grant, Until: at(600)})
		})
		want(t, "Revoke(grant)", verdicts[1], nil)
		if verdicts[0] == nil {
			want(t, "Exchange(successor)", b.Exchange(t.Context(), next.Key, at(2)), driver.ErrRevoked)
			continue
		}
		want(t, "Exchange(code)", verdicts[0], driver.ErrRevoked)
		absent(t, b, next)
	}
}
