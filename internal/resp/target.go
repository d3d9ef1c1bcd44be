package resp

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Target is a server that an address names, and how it is greeted.
type Target struct {
	Network   string   // tcp or unix
	Addresses []string // host:port each, or the path of a socket
	TLS       *tls.Config
	User      string
	Password  string
	DB        int
	Name      string // what the server lists the connection as
	MasterSet string // what sentinels at the Addresses call the master; "": they are no sentinels
	Old       bool   // RESP 2 alone, for proxies that know no HELLO
}

// Parse reads an address. Its errors never repeat any part of the address, which may hold a password.
func Parse(address string) (t Target, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return t, errors.New("the address cannot be read; write redis://host:6379, and encode the special characters of a " +
			"password, such as %40 for @")
	}
	q := u.Query()
	t = Target{Network: "tcp", User: u.User.Username(), Name: q.Get("client_name"), MasterSet: q.Get("master_set"),
		Old: q.Get("protocol") == "2"}
	t.Password, _ = u.User.Password()
	db := strings.TrimPrefix(u.Path, "/")
	switch u.Scheme {
	case "rediss", "valkeys":
		t.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	case "redis", "valkey":
	case "unix":
		t.Network, t.Addresses, db = "unix", []string{strings.TrimSpace(u.Path)}, ""
	default:
		return t, errors.New("the address begins with no redis://, rediss:// or unix://")
	}
	var errs []error
	if t.Network == "tcp" && u.Hostname() == "" {
		errs = append(errs, errors.New("the address names no host; write redis://host:6379"))
	}
	if t.DB, err = database(db); err != nil {
		errs = append(errs, errors.New("the path of the address is no number of a database; leave it out, or write /0"))
	}
	if more := q.Get("db"); more != "" {
		if t.DB, err = database(more); err != nil {
			errs = append(errs, errors.New("the parameter db is no number of a database"))
		}
	}
	if t.Network == "tcp" {
		t.Addresses = []string{place(u.Hostname(), u.Port())}
		for _, more := range q["addr"] {
			host, port, err := net.SplitHostPort(more)
			if err != nil {
				host, port = more, ""
			}
			t.Addresses = append(t.Addresses, place(cmp.Or(host, u.Hostname()), port))
		}
	}
	if t.TLS != nil && len(t.Addresses) == 1 {
		t.TLS.ServerName = u.Hostname() // of others that it names, too; where several are known, each has its own
	}
	return t, errors.Join(errs...)
}

func database(text string) (int, error) {
	n, err := strconv.ParseUint(cmp.Or(text, "0"), 10, 16)
	return int(n), err
}

func place(host, port string) string { return net.JoinHostPort(host, cmp.Or(port, "6379")) }
