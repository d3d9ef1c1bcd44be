package config

import (
	"errors"
	"time"

	"github.com/keystile/keystile/storage/authn"
)

// mfaOf sets the policy of users with a role.
func mfaOf(role string) func(*Config, string) error {
	return maybe(func(c *Config, s string) error {
		policy := ""
		if err := choice(func(*Config) *string { return &policy }, authn.MFAOff, authn.MFAOffered, authn.MFARequired)(c, s); err != nil {
			return err
		}
		if c.MFA.Roles == nil {
			c.MFA.Roles = map[string]string{}
		}
		c.MFA.Roles[role] = policy
		return nil
	})
}

// grace reads a duration that may be 0: there is none.
func grace(c *Config, s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return errors.New("a duration has a number and a unit: h, m or s")
	case d < 0:
		return errors.New("a duration is not below 0")
	}
	if c.MFA.Grace = d; d == 0 {
		c.MFA.Grace = -1
	}
	return nil
}
