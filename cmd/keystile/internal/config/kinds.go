package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

func nothing(string) error { return nil }

// maybe lets a key be empty.
func maybe(set func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return set(s)
	}
}

func text(at *string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("it is empty: give a value, or leave it out")
		}
		*at = s
		return nil
	}
}

// contact is one line of what users are told.
func contact(at *string) func(string) error {
	return func(s string) error {
		if len(s) > 200 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return errors.New("it must be one line of up to 200 bytes")
		}
		*at = strings.TrimSpace(s)
		return nil
	}
}

func duration(at *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New("a duration has a number and a unit: h, m or s")
		}
		if d <= 0 {
			return errors.New("a duration must be above 0")
		}
		*at = d
		return nil
	}
}

// durationOrOff is duration for a setting that may be 0. It is handed on as a value below 0, because the Config of a
// room takes 0 for its default.
func durationOrOff(at *time.Duration) func(string) error {
	above := duration(at)
	return func(s string) error {
		switch d, err := time.ParseDuration(s); {
		case err == nil && d < 0:
			return errors.New("a duration must not be below 0")
		case err == nil && d == 0:
			*at = -1
			return nil
		}
		return above(s)
	}
}

func count(at *int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("it must be a whole number from 1")
		}
		*at = n
		return nil
	}
}

func port(at *int) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n == 0 {
			return errors.New("it must be a number from 1 to 65535")
		}
		*at = int(n)
		return nil
	}
}

func boolean(at *bool) func(string) error {
	return func(s string) error {
		on, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("it must be true or false")
		}
		*at = on
		return nil
	}
}

// decided leaves nil what nobody has decided.
func decided(at **bool) func(string) error {
	return func(s string) error {
		on := new(bool)
		err := boolean(on)(s)
		if err == nil {
			*at = on
		}
		return err
	}
}

func choice(at *string, among ...string) func(string) error {
	return func(s string) error {
		for _, one := range among {
			if strings.EqualFold(one, s) {
				*at = one
				return nil
			}
		}
		return fmt.Errorf("it must be one of %s", strings.Join(among, ", "))
	}
}

func (c *Config) setAlgorithms(s string) error {
	for _, word := range words(s) {
		var alg string
		if err := choice(&alg, "HS256", "ES256", "RS256", "EdDSA")(word); err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		if !slices.Contains(c.IDTokenAlgs, alg) {
			c.IDTokenAlgs = append(c.IDTokenAlgs, alg)
		}
	}
	if !slices.Contains(c.IDTokenAlgs, "HS256") {
		return errors.New("HS256 is always offered; list it too")
	}
	return nil
}

func (c *Config) setClaims(s string) (err error) {
	if c.ClaimRules, err = claim.Parse([]byte(s)); err != nil {
		return err
	}
	return claim.Check(c.ClaimRules)
}

func (c *Config) setProxies(s string) error {
	for _, word := range words(s) {
		if addr, err := netip.ParseAddr(word); err == nil {
			word = netip.PrefixFrom(addr, addr.BitLen()).String()
		}
		p, err := netip.ParsePrefix(word)
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a network", word)
		}
		c.TrustedProxies = append(c.TrustedProxies, p.Masked())
	}
	return nil
}

func (c *Config) setLevel(s string) error {
	if err := c.LogLevel.UnmarshalText([]byte(s)); err != nil {
		return errors.New("it must be one of debug, info, warn, error")
	}
	return nil
}

func (c *Config) setMasterKeys(s string) error {
	for _, word := range words(s) {
		key, err := storage.ParseMasterKey(word)
		if err != nil {
			return err
		}
		c.MasterKeys = append(c.MasterKeys, key)
	}
	return nil
}

func address(at *string) func(string) error {
	return func(s string) error {
		_, port, err := net.SplitHostPort(s)
		if err != nil {
			return errors.New("an address is host:port")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
			return errors.New("the port is a number from 0 to 65535")
		}
		*at = s
		return nil
	}
}

// origin accepts scheme://host[:port] in the one form that browsers write it, because it
// becomes the issuer and is compared byte for byte.
func origin(at *string) func(string) error {
	return maybe(func(s string) error {
		scheme, rest, ok := strings.Cut(s, "://")
		if scheme = strings.ToLower(scheme); !ok || scheme != "http" && scheme != "https" {
			return errors.New("it must begin with https:// or http://")
		}
		host, _, _ := strings.Cut(rest, "/")
		host, err := storage.NormalizeDomain(host)
		if err != nil {
			return errors.New("it must be an origin: scheme, host and perhaps a port, nothing else")
		}
		host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
		if normal := scheme + "://" + host; normal != s {
			return fmt.Errorf("it must be an origin, without path or slash behind it; write %s", normal)
		}
		*at = s
		return nil
	})
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
