package planted

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func issueBugs() []bug {
	return []bug{
		{name: "times are 64 bits of nanoseconds", caught: "times/every time of a token", plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				for i, t := range tokens {
					tokens[i].ExpiresAt = time.Unix(0, t.ExpiresAt.UnixNano())
				}
				return issue(ctx, tokens...)
			}
		}},
		{name: "Issue overwrites a taken key", caught: "Issue and Token/a taken key is refused", plant: func(b *parts) {
			var over sync.Map
			issue, token := b.issue, b.token
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				err := issue(ctx, tokens...)
				if errors.Is(err, driver.ErrExists) {
					over.Store(tokens[0].Key, tokens[0])
					return nil
				}
				return err
			}
			b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
				if t, there := over.Load(key); there {
					return t.(driver.Token), nil
				}
				return token(ctx, key)
			}
		}},
		{name: "Issue refuses a taken key with a verdict of Put", caught: "Issue and Token/a taken key is refused",
			plant: func(b *parts) {
				issue := b.issue
				b.issue = func(ctx context.Context, tokens ...driver.Token) error {
					err := issue(ctx, tokens...)
					if errors.Is(err, driver.ErrExists) {
						return driver.ErrConflict
					}
					return err
				}
			}},
		{name: "Issue stores those before the taken key", caught: "Issue and Token/with one taken key none",
			plant: func(b *parts) {
				issue := b.issue
				b.issue = func(ctx context.Context, tokens ...driver.Token) error {
					for _, t := range tokens {
						if err := issue(ctx, t); err != nil {
							return err
						}
					}
					return nil
				}
			}},
	}
}

func issueTwiceBugs() []bug {
	return []bug{
		{name: "Issue takes one key twice", caught: "Issue and Token/with one key twice none", plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				seen := map[driver.Key]driver.Token{}
				for _, t := range tokens {
					seen[t.Key] = t
				}
				for _, t := range seen {
					if err := issue(ctx, t); err != nil {
						return err
					}
				}
				return nil
			}
		}},
		{name: "Issue looks first and writes later", caught: "Issue and Token/of 32 issues of one key one wins",
			plant: func(b *parts) {
				issue, token := b.issue, b.token
				b.issue = func(ctx context.Context, tokens ...driver.Token) error {
					for _, t := range tokens {
						if _, err := token(ctx, t.Key); err == nil {
							return driver.ErrExists
						}
					}
					yield()
					if err := issue(ctx, tokens...); !errors.Is(err, driver.ErrExists) {
						return err
					}
					return nil
				}
			}},
		{name: "Issue drops a canceled call and answers nil", caught: "Issue and Token/a canceled call",
			plant: func(b *parts) {
				issue := b.issue
				b.issue = func(ctx context.Context, tokens ...driver.Token) error {
					if ctx.Err() != nil {
						return nil
					}
					return issue(ctx, tokens...)
				}
			}},
	}
}

func tokenBugs() []bug {
	return []bug{
		{name: "Token hides spent tokens", caught: "Exchange/an exchange spends the token", plant: func(b *parts) {
			token := b.token
			b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
				t, err := token(ctx, key)
				if !t.SpentAt.IsZero() {
					return driver.Token{}, driver.ErrNotFound
				}
				return t, err
			}
		}},
		{name: "the key is cut to the hash's first half", caught: "Issue and Token/keys that share the time",
			plant: func(b *parts) {
				issue := b.issue
				b.issue = func(ctx context.Context, tokens ...driver.Token) error {
					for i := range tokens {
						clear(tokens[i].Key[24:])
					}
					return issue(ctx, tokens...)
				}
			}},
		{name: "Token hides revoked tokens", caught: "Revoke/a revoked token can be read", plant: func(b *parts) {
			token := b.token
			b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
				t, err := token(ctx, key)
				if covering(b, t, driver.Revocation.Covers) {
					return driver.Token{}, driver.ErrNotFound
				}
				return t, err
			}
		}},
		{name: "a successor loses its Nonce", caught: "Issue and Token/every field of a successor", plant: func(b *parts) {
			exchange := b.exchange
			b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
				for i := range next {
					next[i].Nonce = ""
				}
				return exchange(ctx, key, at, next...)
			}
		}},
		{name: "a zero time becomes 1970", caught: "Issue and Token/empty fields stay empty",
			plant: tokenOut(func(t *driver.Token) {
				if t.SpentAt.IsZero() {
					t.SpentAt = time.Unix(0, 0).UTC()
				}
			})},
	}
}

func lossBugs() (bugs []bug) {
	for loses, out := range map[string]func(*driver.Token){
		"its GrantedAt":   func(t *driver.Token) { t.GrantedAt = time.Time{} },
		"its AuthTime":    func(t *driver.Token) { t.AuthTime = time.Time{} },
		"its LoginType":   func(t *driver.Token) { t.LoginType = "" },
		"its SignIn":      func(t *driver.Token) { t.SignIn = "" },
		"its Resource":    func(t *driver.Token) { t.Resource = "" },
		"its RedirectURI": func(t *driver.Token) { t.RedirectURI = "" },
		"its Challenge":   func(t *driver.Token) { t.Challenge = "" },
		"its nanoseconds": func(t *driver.Token) { t.IssuedAt = t.IssuedAt.Truncate(time.Microsecond) },
		"UTC":             func(t *driver.Token) { t.ExpiresAt = t.ExpiresAt.In(time.FixedZone("here", 3600)) },
		"a last space":    func(t *driver.Token) { t.Scope = t.Scope[:max(0, len(t.Scope)-1)] },
	} {
		bugs = append(bugs, bug{name: "a token loses " + loses, caught: "Issue and Token/every field of an issued token",
			plant: tokenOut(out)})
	}
	return bugs
}

// tokenOut changes tokens on their way out.
func tokenOut(change func(*driver.Token)) func(*parts) {
	return func(b *parts) {
		token := b.token
		b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
			t, err := token(ctx, key)
			change(&t)
			return t, err
		}
	}
}
