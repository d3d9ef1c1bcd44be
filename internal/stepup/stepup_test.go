package stepup_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// Decision 57: ten minutes, and no clock that ran ahead makes them longer.
func TestSignInIsFreshForTenMinutes(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]bool{
		0: true, 10 * time.Minute: true, 10*time.Minute + 1: false, 24 * time.Hour: false,
		-time.Minute: true, -time.Minute - 1: false, -24 * time.Hour: false,
	} {
		if stepup.Fresh(now.Add(-age), true, now) != want {
			t.Errorf("a sign-in %v ago is fresh: %v", age, !want)
		}
		if stepup.Fresh(now.Add(-age), false, now) {
			t.Errorf("a sign-in %v ago that has not proved what its user has is fresh", age)
		}
	}
	if stepup.Fresh(time.Time{}, true, now) {
		t.Error("a session without a time of its sign-in is fresh")
	}
}

// factors is a store in which everybody has these.
type factors struct {
	of  storage.Factors
	err error
}

func (f factors) Factors(context.Context, string) (storage.Factors, error) { return f.of, f.err }

// Decision 91: of a user with a second factor it takes a session that has proved it.
func TestSessionHasProvedWhatItsUserHas(t *testing.T) {
	one, two := storage.Session{AMR: authn.AMRPassword}, storage.Session{AMR: authn.AMRPassword + " " +
		authn.AMRMultifactor}
	none := factors{}
	app := factors{of: storage.Factors{Authenticator: &authn.Authenticator{}}}
	key := factors{of: storage.Factors{Passkeys: []authn.Passkey{{ID: "x"}}}}
	codes := factors{of: storage.Factors{Recovery: []authn.RecoveryCode{{}}}}
	away := factors{err: errors.New("away")}
	for name, c := range map[string]struct {
		v      storage.Session
		by     factors
		proved bool
		fails  bool
	}{
		"one factor of one":                    {one, none, true, false},
		"one factor of two, an app":            {one, app, false, false},
		"one factor of two, a passkey":         {one, key, false, false},
		"recovery codes alone are no factor":   {one, codes, true, false},
		"two factors":                          {two, app, true, false},
		"two factors, whatever the store says": {two, away, true, false},
		"the store is away":                    {one, away, false, true},
		"another provider, of one factor":      {storage.Session{}, none, true, false},
		"another provider, of two":             {storage.Session{}, app, false, false},
	} {
		proved, err := stepup.By(c.by).Proved(t.Context(), c.v)
		if proved != c.proved || (err != nil) != c.fails {
			t.Errorf("%s: %v %v, want %v", name, proved, err, c.proved)
		}
	}
}
