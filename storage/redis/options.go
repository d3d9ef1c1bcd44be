package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/redis/internal/script"
	"github.com/redis/rueidis"
)

// Options of Open. All of them may be zero.
type Options struct {
	Nodes   func() int    // how many nodes are alive, this one included; it must answer at once. nil: 1
	Prefix  string        // begins all keys, so that several services can share a server; "": keystile
	Timeout time.Duration // of one act, after which this node judges alone; 0: 50 ms
	TLS     *tls.Config   // of rediss:// addresses; nil: the roots of the machine
	Log     *slog.Logger  // nil: slog.Default()

	clock func() time.Time // in place of the server's, for tests
	tags  uint64           // groups of buckets; fewer in tests
}

const (
	defaultPrefix  = "keystile"
	defaultTimeout = 50 * time.Millisecond
	mostTimeout    = 10 * time.Second
	mostPrefix     = 64
	dialTimeout    = time.Second
	hungAfter      = 2 * time.Second // a connection that is silent for so long is closed
	sentinelsEvery = 5 * time.Second
)

// parameters are those of an address that mean something.
var parameters = map[string]bool{
	"addr": true, "master_set": true, "db": true, "protocol": true, "client_name": true, "prefix": true, "timeout": true,
}

// complete reads an address into options of the client, and into those of Options that are not given
// otherwise. It never repeats the address, which may have a password, nor a part of it.
func (o *Options) complete(address string) (rueidis.ClientOption, error) {
	var errs []error
	u, err := url.Parse(address)
	if err != nil {
		return rueidis.ClientOption{}, errors.New("redis: the address cannot be read; write redis://host:6379, and encode the special characters of a password, such as %40 for @")
	}
	errs = append(errs, checkAddress(u)...)
	errs = append(errs, o.fromQuery(u.Query())...)
	errs = append(errs, o.check()...)
	if len(errs) > 0 {
		return rueidis.ClientOption{}, fmt.Errorf("redis: %w", errors.Join(errs...))
	}
	c, err := rueidis.ParseURL(address)
	if err != nil {
		return rueidis.ClientOption{}, errors.New("redis: the address cannot be used; write redis://user:password@host:6379/0")
	}
	o.tune(&c)
	return c, nil
}

func checkAddress(u *url.URL) (errs []error) {
	switch u.Scheme {
	case "redis", "rediss", "valkey", "valkeys":
		if u.Hostname() == "" {
			errs = append(errs, errors.New("the address names no host; write redis://host:6379"))
		}
		if db := strings.TrimPrefix(u.Path, "/"); db != "" {
			if _, err := strconv.ParseUint(db, 10, 16); err != nil {
				errs = append(errs, errors.New("the path of the address is no number of a database; leave it out, or write /0"))
			}
		}
	case "unix":
	default:
		errs = append(errs, errors.New("the address begins with no redis://, rediss:// or unix://"))
	}
	q := u.Query()
	if db := q.Get("db"); db != "" {
		if _, err := strconv.ParseUint(db, 10, 16); err != nil {
			errs = append(errs, errors.New("the parameter db is no number of a database"))
		}
	}
	for name := range q {
		if !parameters[name] {
			errs = append(errs, errors.New("the address has a parameter that there is not; there are addr, master_set, db, protocol, client_name, prefix and timeout"))
			break
		}
	}
	if q.Has("master_set") && q.Get("master_set") == "" {
		errs = append(errs, errors.New("the parameter master_set is empty; give the name that the sentinels have for the master"))
	}
	return errs
}

// fromQuery takes what an address says; Options that say something else contradict it.
func (o *Options) fromQuery(q url.Values) (errs []error) {
	if p := q.Get("prefix"); p != "" {
		if o.Prefix != "" && o.Prefix != p {
			errs = append(errs, fmt.Errorf("the address has the prefix %q and Options.Prefix is %q; give one of them", p, o.Prefix))
		}
		o.Prefix = p
	}
	if t := q.Get("timeout"); t != "" {
		d, err := time.ParseDuration(t)
		switch {
		case err != nil:
			errs = append(errs, errors.New("the parameter timeout is no duration; write one such as 50ms"))
		case o.Timeout != 0 && o.Timeout != d:
			errs = append(errs, fmt.Errorf("the address has the timeout %v and Options.Timeout is %v; give one of them", d, o.Timeout))
		default:
			o.Timeout = d
		}
	}
	return errs
}

func (o *Options) check() (errs []error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.tags == 0 {
		o.tags = script.Tags
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Nodes == nil {
		o.Nodes = func() int { return 1 }
	}
	if len(o.Prefix) > mostPrefix || strings.ContainsAny(o.Prefix, "{}* \t\r\n\x00") {
		errs = append(errs, fmt.Errorf("the prefix %q is longer than %d bytes or has braces, stars or spaces", o.Prefix, mostPrefix))
	}
	if o.Timeout < time.Millisecond || o.Timeout > mostTimeout {
		errs = append(errs, fmt.Errorf("the timeout is %v; give one from 1ms to %v", o.Timeout, mostTimeout))
	}
	return errs
}

// tune sets what this package needs of a client.
func (o *Options) tune(c *rueidis.ClientOption) {
	if o.TLS != nil && c.TLSConfig != nil {
		own := o.TLS.Clone()
		if own.ServerName == "" && len(c.InitAddress) == 1 {
			own.ServerName = c.TLSConfig.ServerName
		}
		c.TLSConfig = own
	} else if c.TLSConfig != nil && len(c.InitAddress) > 1 {
		c.TLSConfig.ServerName = "" // each has its own
	}
	c.Dialer.Timeout = max(dialTimeout, o.Timeout)
	c.ConnWriteTimeout = max(hungAfter, 2*o.Timeout)
	if c.ClientName == "" {
		c.ClientName = "keystile"
	}
	if c.Sentinel.MasterSet != "" {
		c.Sentinel.TopologyRefreshInterval = sentinelsEvery
		c.Sentinel.TLSConfig, c.Sentinel.Dialer = c.TLSConfig, c.Dialer
	}
	c.ForceSingleClient = len(c.InitAddress) == 1 && c.SelectDB != 0
}
