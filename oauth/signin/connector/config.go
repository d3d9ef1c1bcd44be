package connector

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/storage"
)

// check collects the errors of a Config.
type check struct {
	name string
	errs []error
}

func (c *check) add(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("connector "+c.name+": "+format, args...))
}

// made returns a connector, unless there are errors.
func (c *check) made(made Connector) (Connector, error) {
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	return made, nil
}

// idShape keeps the colon out, which separates an id from what follows it in a subject.
var idShape = pattern.Lazy(`^[A-Za-z0-9_.-]{1,64}$`)

func (c *check) id(id string) string {
	if !idShape().MatchString(id) {
		c.add("ID: %q is no id of an application; the provider's console shows it", id)
	}
	return id
}

func (c *check) secret(s storage.Secret) storage.Secret {
	if s.IsZero() {
		c.add("Secret: give the one that the provider's console shows beside the ID")
	}
	return s
}

// endpoint returns the given address, or the provider's own if there is none.
func (c *check) endpoint(field, given, real string) string {
	address := cmp.Or(given, real)
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		c.add("%s: it must be an http or https address without a user and a fragment", field)
	}
	return address
}

// newUpstream makes the common part of a connector. A given client is used as it is, except that
// it follows no redirects.
func newUpstream(name, id string, secret storage.Secret, given *http.Client, meanings map[string]meaning,
	fault func(object) (code, text string)) *base {
	u := &base{name: name, id: id, secret: secret, closeIdle: func() {}, meanings: meanings, fault: fault}
	if given == nil {
		own := &http.Client{Transport: &http.Transport{
			MaxConnsPerHost: 64, IdleConnTimeout: finishTimeout, MaxResponseHeaderBytes: 64 << 10,
		}}
		given, u.closeIdle = own, own.CloseIdleConnections
	}
	client := *given
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	u.client = &client
	return u
}
