package config

import "github.com/keystile/keystile/storage/authn"

// mfaOf sets the policy of users with a role.
func (c *Config) mfaOf(role string) func(string) error {
	return maybe(func(s string) error {
		policy := ""
		if err := choice(&policy, authn.MFAOff, authn.MFAOffered, authn.MFARequired)(s); err != nil {
			return err
		}
		if c.MFA.Roles == nil {
			c.MFA.Roles = map[string]string{}
		}
		c.MFA.Roles[role] = policy
		return nil
	})
}
