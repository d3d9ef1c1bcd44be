package config

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/keystile/keystile/storage"
)

// OTel says where traces are sent.
type OTel struct {
	Endpoint string                    // "": nothing is traced
	Headers  map[string]storage.Secret // of each request to the collector
	Sample   float64                   // the share of requests that are recorded
	Follow   bool                      // trusted proxies decide it
	Service  string
}

func (c *Config) setCollector(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("it must be the http:// or https:// URL of a collector")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("it must have no user, query or fragment: put keys into otel.headers")
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1/traces"):
		return errors.New("it must be without /v1/traces, which is added")
	}
	c.OTel.Endpoint = s
	return nil
}

// setCollectorHeaders reads what OTEL_EXPORTER_OTLP_HEADERS has: name=value pairs with commas between, percent-encoded.
func (c *Config) setCollectorHeaders(s string) error {
	for pair := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !isToken(name) || strings.ContainsFunc(value,
			func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New("it must be name=value pairs of headers with commas between; a comma or % in a value is " +
				"percent-encoded")
		}
		if c.OTel.Headers == nil {
			c.OTel.Headers = map[string]storage.Secret{}
		}
		c.OTel.Headers[http.CanonicalHeaderKey(name)] = storage.NewSecret(value)
	}
	return nil
}

// isToken reports whether a text can be the name of a header (RFC 9110 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func share(at *float64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n >= 0 && n <= 1) {
			return errors.New("it must be a number from 0 to 1")
		}
		*at = n
		return nil
	}
}

// checkOTel refuses settings that do nothing.
func (l *loader) checkOTel(c *Config) {
	switch o := c.OTel; {
	case o.Endpoint == "" && (len(o.Headers) > 0 || o.Follow):
		l.complain("otel.endpoint: it is empty, and other keys of otel are not")
	case o.Follow && len(c.TrustedProxies) == 0:
		l.complain("otel.follow: no proxy is trusted: name the proxies that write traceparent in trusted_proxies")
	}
}
