package planted

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// exchangeFunc is an Exchange with the right one at hand.
type exchangeFunc func(right func(...driver.Token) error, t driver.Token, at time.Time, next []driver.Token) error

// exchanging puts a wrong Exchange in. It is called with the token as it was before.
func exchanging(b *parts, wrong exchangeFunc) {
	exchange := b.exchange
	b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
		t, err := b.token(ctx, key)
		right := func(next ...driver.Token) error { return exchange(ctx, key, at, next...) }
		if err != nil {
			return right(next...)
		}
		return wrong(right, t, at, next)
	}
}

func exchangeBugs() []bug {
	return []bug{
		{name: "Exchange reads, then marks", caught: "Exchange/of 32 exchanges of one token one wins", plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
				yield()
				err := right(next...)
				if errors.Is(err, driver.ErrSpent) && t.SpentAt.IsZero() {
					return b.issue(context.Background(), next...)
				}
				return err
			})
		}},
		{name: "Exchange does not mark", caught: "Exchange/an exchange that nothing follows only spends",
			plant: func(b *parts) {
				exchanging(b, func(_ func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
					return b.issue(context.Background(), next...)
				})
			}},
		{name: "Exchange reads a clock", caught: "Exchange/an exchange spends the token at the given time",
			plant: func(b *parts) {
				exchange := b.exchange
				b.exchange = func(ctx context.Context, key driver.Key, _ time.Time, next ...driver.Token) error {
					return exchange(ctx, key, time.Now(), next...)
				}
			}},
		{name: "Exchange judges expiry", caught: "Exchange/an expired token can be exchanged", plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, t driver.Token, at time.Time, next []driver.Token) error {
				if at.After(t.ExpiresAt) {
					return driver.ErrNotFound
				}
				return right(next...)
			})
		}},
		{name: "Exchange stores only the first of what follows",
			caught: "Exchange/an exchange spends the token at the given time and stores all", plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
					return right(next[:min(1, len(next))]...)
				})
			}},
		{name: "Exchange spends the whole family", caught: "Exchange/an exchange leaves other tokens alone",
			plant: func(b *parts) {
				family := map[string]bool{}
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					if family[t.Grant] {
						return driver.ErrSpent
					}
					family[t.Grant] = true
					return right(next...)
				})
			}},
	}
}

func followBugs() []bug {
	return []bug{
		{name: "Exchange spends before it stores", caught: "Exchange/of 16 exchanges that bring the same successor",
			plant: spendsFirst},
		{name: "Exchange lets a token follow itself", caught: "Exchange refuses/ErrExists: a token cannot follow itself",
			plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					return right(slices.DeleteFunc(slices.Clone(next), func(x driver.Token) bool { return x.Key == t.Key })...)
				})
			}},
		{name: "Exchange takes a key twice in what follows", caught: "Exchange refuses/ErrExists: what follows appears twice",
			plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
					return right(slices.CompactFunc(slices.Clone(next), func(a, b driver.Token) bool { return a.Key == b.Key })...)
				})
			}},
	}
}

func spendsFirst(b *parts) {
	exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
		if err := right(); err != nil {
			return err
		}
		return b.issue(context.Background(), next...)
	})
}

func verdictBugs() []bug {
	taken := func(b *parts, next []driver.Token) bool {
		return slices.ContainsFunc(next, func(x driver.Token) bool {
			_, err := b.token(context.Background(), x.Key)
			return err == nil
		})
	}
	return []bug{
		{name: "Exchange does not know unknown keys", caught: "Exchange refuses/ErrNotFound: an unknown key",
			plant: func(b *parts) {
				exchange := b.exchange
				b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
					if err := exchange(ctx, key, at, next...); !errors.Is(err, driver.ErrNotFound) {
						return err
					}
					return driver.ErrSpent
				}
			}},
		{name: "Exchange looks for revocations before it looks for spent", caught: "Exchange refuses/ErrSpent: a spent token",
			plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					if covering(b, t, driver.Revocation.Covers) {
						return driver.ErrRevoked
					}
					return right(next...)
				})
			}},
		{name: "Exchange looks for taken keys before it looks for revocations",
			caught: "Exchange refuses/ErrRevoked: a revoked token", plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					if t.SpentAt.IsZero() && taken(b, next) {
						return driver.ErrExists
					}
					return right(next...)
				})
			}},
		{name: "a refused Exchange stores what follows", caught: "Exchange refuses/ErrSpent: a spent token",
			plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
					err := right(next...)
					if err != nil {
						b.issue(context.Background(), next[0])
					}
					return err
				})
			}},
		{name: "a refused Exchange spends", caught: "Exchange refuses/ErrExists: what follows is taken", plant: spendsFirst},
	}
}
