package postgres

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// OpenURL is Open with an address in which parameters of this package may stand beside those of
// libpq and of pgxpool (pool_max_conns). They go before the Options:
//
//	schema=NAME      Options.Schema
//	migrate=never    Options.NeverMigrate
//	listen=URL       Options.ListenDSN; listen=off is Options.PollOnly
//	timeout=5s       Options.Timeout
func OpenURL(ctx context.Context, address string, o Options) (*Store, error) {
	dsn, o, err := ParseURL(address, o)
	if err != nil {
		return nil, err
	}
	return Open(ctx, dsn, o)
}

// ParseURL takes the parameters of this package out of an address (OpenURL), and returns the DSN that
// is left with the Options that they make of o.
func ParseURL(address string, o Options) (dsn string, _ Options, err error) {
	u, err := url.Parse(address)
	if err != nil { // its text has the address, and that perhaps a password
		return "", o, fmt.Errorf("postgres: the address cannot be read; it is like " +
			"postgres://user@host/database?sslmode=verify-full")
	}
	q, kept := u.Query(), []string{}
	for _, pair := range strings.Split(u.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		switch name {
		case "schema":
			o.Schema = cmp.Or(q.Get(name), o.Schema)
		case "migrate":
			if o.NeverMigrate = q.Get(name) == "never"; !o.NeverMigrate && q.Get(name) != "auto" {
				return "", o, fmt.Errorf("postgres: migrate=%s in the address: give auto or never", q.Get(name))
			}
		case "listen":
			o.ListenDSN = q.Get(name)
			if o.PollOnly = o.ListenDSN == "off"; o.PollOnly {
				o.ListenDSN = ""
			}
		case "timeout":
			if o.Timeout, err = time.ParseDuration(q.Get(name)); err != nil || o.Timeout <= 0 {
				return "", o, fmt.Errorf("postgres: timeout=%s in the address: give a duration, for example 5s", q.Get(name))
			}
		case "":
		default:
			kept = append(kept, pair)
		}
	}
	u.RawQuery = strings.Join(kept, "&")
	return u.String(), o, nil
}
