package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
)

var productName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// taken are first segments of paths that are answered here, and products that are ours.
var taken = []string{"oauth", "api", "demo", "healthz", "connect", "check_token", "identity", "mcp"}

func product(name string) error {
	if !productName.MatchString(name) {
		return fmt.Errorf("%q is no name of a product: 1 to 32 of a-z, 0-9, _ and -, the first a letter", name)
	}
	return nil
}

// upstreams reads name=URL, separated by commas.
func upstreams(c *Config, s string) error {
	for _, word := range words(s) {
		name, target, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q is not of the form name=URL", word)
		}
		if err := product(name); err != nil {
			return err
		}
		if slices.Contains(taken, name) {
			return fmt.Errorf("%q has a meaning here already; choose another name", name)
		}
		if _, twice := c.Proxy[name]; twice {
			return fmt.Errorf("%q is there twice", name)
		}
		u, err := url.Parse(target)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("a URL is one such as http://127.0.0.1:9000/v1, without user, query and fragment")
		}
		if c.Proxy == nil {
			c.Proxy = map[string]string{}
		}
		c.Proxy[name] = target
	}
	return nil
}

func products(c *Config, s string) error {
	for _, name := range words(s) {
		if err := product(name); err != nil {
			return err
		}
		c.Products = append(c.Products, name)
	}
	return nil
}

// origins accepts what browsers send in Origin, and no star: the answers are for those who
// are signed in.
func origins(c *Config, s string) error {
	for _, word := range words(s) {
		var one Config
		if err := origin(func(c *Config) *string { return &c.BaseURL })(&one, word); err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		c.Origins = append(c.Origins, word)
	}
	return nil
}

func privateUpstreams(c *Config, s string) error {
	allow := words(s)
	if _, err := netguard.New(netguard.Config{Allow: allow}); err != nil {
		return err
	}
	c.PrivateUpstreams = allow
	return nil
}
