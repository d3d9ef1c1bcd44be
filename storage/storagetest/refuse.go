package storagetest

import (
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// refusing tries every refusal against every lesser reason to refuse, and looks for
// traces.
func refusing() []promise {
	taken := token("taken")
	grant := driver.Revocation{Kind: driver.RevokeGrant, ID: "grant a", Until: at(600)}
	spend := func(t testing.TB, b driver.Backend, x driver.Token) {
		want(t, "Exchange(token)", b.Exchange(t.Context(), x.Key, at(1)), nil)
	}
	return []promise{
		{name: "ErrNotFound: an unknown key, whatever follows", test: func(t testing.TB, b driver.Backend) {
			issue(t, b, taken)
			revoke(t, b, grant)
			fresh, unknown := token("a"), token("a")
			refused(t, b, unknown.Key, driver.ErrNotFound, fresh, taken)
			absent(t, b, unknown, fresh)
		}},
		{name: "ErrSpent: a spent token, although it is revoked too", test: func(t testing.TB, b driver.Backend) {
			x, fresh := token("a"), token("a")
			issue(t, b, x, taken)
			spend(t, b, x)
			revoke(t, b, grant)
			refused(t, b, x.Key, driver.ErrSpent, fresh, taken)
			x.SpentAt = at(1)
			sameToken(t, read(t, b, x.Key), x)
			absent(t, b, fresh)
		}},
		{name: "ErrRevoked: a revoked token, although what follows is taken", test: func(t testing.TB, b driver.Backend) {
			x, fresh := token("a"), token("a")
			issue(t, b, x, taken)
			revoke(t, b, grant)
			refused(t, b, x.Key, driver.ErrRevoked, fresh, taken)
			unspent(t, b, x)
			absent(t, b, fresh)
		}},
	}
}

func refusingNext() []promise {
	taken := token("taken")
	return []promise{
		{name: "ErrExists: what follows is taken", test: func(t testing.TB, b driver.Backend) {
			x, first, last := token("a"), token("a"), token("a")
			issue(t, b, x, taken)
			refused(t, b, x.Key, driver.ErrExists, first, taken, last)
			unspent(t, b, x)
			absent(t, b, first, last)
			sameToken(t, read(t, b, taken.Key), taken)
		}},
		{name: "ErrExists: what follows appears twice", test: func(t testing.TB, b driver.Backend) {
			x, first, twice := token("a"), token("a"), token("a")
			issue(t, b, x)
			refused(t, b, x.Key, driver.ErrExists, first, twice, twice)
			unspent(t, b, x)
			absent(t, b, first, twice)
		}},
		{name: "ErrExists: a token cannot follow itself", test: func(t testing.TB, b driver.Backend) {
			x, fresh := token("a"), token("a")
			issue(t, b, x)
			refused(t, b, x.Key, driver.ErrExists, fresh, x)
			unspent(t, b, x)
			absent(t, b, fresh)
		}},
	}
}

func refused(t testing.TB, b driver.Backend, key driver.Key, verdict error, next ...driver.Token) {
	t.Helper()
	want(t, "Exchange(key, next)", b.Exchange(t.Context(), key, at(2), next...), verdict)
}

// unspent checks that a token is as it was issued, and can be exchanged unless something
// stands against it.
func unspent(t testing.TB, b driver.Backend, x driver.Token) {
	t.Helper()
	sameToken(t, read(t, b, x.Key), x)
	if err := b.Exchange(t.Context(), x.Key, at(2)); err != nil {
		want(t, "Exchange(token) after a refusal", err, driver.ErrRevoked)
	}
}
