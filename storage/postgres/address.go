package postgres

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// ParseURL takes the parameters of this package out of an address, and returns the DSN that is left with the Options
// that they make of o.
func ParseURL(address string, o Options) (dsn string, _ Options, err error) {
	if !strings.Contains(address, "://") {
		return address, o, nil // a list of key=value as libpq has it
	}
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
