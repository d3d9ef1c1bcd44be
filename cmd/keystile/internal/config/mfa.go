package config

import "github.com/keystile/keystile/storage/authn"

// mfaOf sets the policy of users with a role.
func mfaOf(role string) func(*Config, string) error {
	return maybe(func(c *Config, s string) error {
		policy := ""
		if err := choice(func(*Config) *string { return &policy }, authn.MFAOff, authn.MFAOffered, authn.MFARequired)(c,
			s); err != nil {
			return err
		}
		if c.MFA.Roles == nil {
			c.MFA.Roles = map[string]string{}
		}
		c.MFA.Roles[role] = policy
		return nil
	})
}
