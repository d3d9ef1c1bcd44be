package redis

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/resp"
	"github.com/keystile/keystile/storage/counters/redis/internal/script"
	"github.com/keystile/keystile/storage/counters/redis/internal/servers"
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
	dialTimeout    = 500 * time.Millisecond
	hungAfter      = 2 * time.Second // a connection that is silent for so long is closed
)

// parameters are those of an address that mean something.
var parameters = map[string]bool{
	"addr": true, "master_set": true, "db": true, "protocol": true, "client_name": true, "prefix": true, "timeout": true,
}

// complete reads an address into the server that it names, and into those of Options that are not given
// otherwise. It never repeats the address, which may have a password, nor a part of it.
func (o *Options) complete(address string) (t resp.Target, err error) {
	t, err = resp.Parse(address)
	errs := []error{err}
	if u, err := url.Parse(address); err == nil {
		errs = append(errs, checkQuery(u.Query()), errors.Join(o.fromQuery(u.Query())...))
	}
	errs = append(errs, o.check()...)
	if err := errors.Join(errs...); err != nil {
		return t, fmt.Errorf("redis: %w", err)
	}
	t.Name = cmp.Or(t.Name, "keystile")
	if o.TLS != nil && t.TLS != nil {
		own := o.TLS.Clone()
		own.ServerName = cmp.Or(own.ServerName, t.TLS.ServerName)
		t.TLS = own
	}
	return t, nil
}

// servers says how long this package waits for connections.
func (o *Options) servers(t resp.Target) servers.Config {
	return servers.Config{Target: t, Dialling: max(dialTimeout, o.Timeout), Patience: max(hungAfter, 2*o.Timeout)}
}

func checkQuery(q url.Values) error {
	for name := range q {
		if !parameters[name] {
			return errors.New("the address has a parameter that there is not; there are addr, master_set, db, protocol, " +
				"client_name, prefix and timeout")
		}
	}
	if q.Has("master_set") && q.Get("master_set") == "" {
		return errors.New("the parameter master_set is empty; give the name that the sentinels have for the master")
	}
	return nil
}

// fromQuery takes what an address says; Options that say something else contradict it.
func (o *Options) fromQuery(q url.Values) (errs []error) {
	if p := q.Get("prefix"); p != "" {
		if o.Prefix != "" && o.Prefix != p {
			errs = append(errs, fmt.Errorf("the address has the prefix %q and Options.Prefix is %q; give one of them", p,
				o.Prefix))
		}
		o.Prefix = p
	}
	if t := q.Get("timeout"); t != "" {
		d, err := time.ParseDuration(t)
		switch {
		case err != nil:
			errs = append(errs, errors.New("the parameter timeout is no duration; write one such as 50ms"))
		case o.Timeout != 0 && o.Timeout != d:
			errs = append(errs, fmt.Errorf("the address has the timeout %v and Options.Timeout is %v; give one of them", d,
				o.Timeout))
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
		errs = append(errs, fmt.Errorf("the prefix %q is longer than %d bytes or has braces, stars or spaces", o.Prefix,
			mostPrefix))
	}
	if o.Timeout < time.Millisecond || o.Timeout > mostTimeout {
		errs = append(errs, fmt.Errorf("the timeout is %v; give one from 1ms to %v", o.Timeout, mostTimeout))
	}
	return errs
}
