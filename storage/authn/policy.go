package authn

import (
	"cmp"
	"errors"
	"time"
)

// Policy says which users need a second factor. It is due Grace after the first sign-in at which it was
// required: until then each sign-in reminds of it. An application that requires one of its users gives no
// such time. Users who have a factor are asked for it under every Policy. The zero Policy offers one to all
// users.
type Policy struct {
	Default string            // MFAOff, MFAOffered or MFARequired; "": offered
	Roles   map[string]string // of users with these roles, in place of the Default
	// how long after the first sign-in at which it is required users may go on without; 0: 14 days; less: not at all
	Grace time.Duration
}

const defaultGrace = 14 * 24 * time.Hour

// Of returns the policy for users of a role.
func (p Policy) Of(role string) string {
	return cmp.Or(p.Roles[role], p.Default, MFAOffered)
}

// DueAt returns when the grace ends of a user of whom a factor has been required since a time.
func (p Policy) DueAt(since time.Time) time.Time {
	return since.Add(max(0, cmp.Or(p.Grace, defaultGrace)))
}

// Check returns what is wrong with a policy.
func (p Policy) Check() error {
	errs := []error{CheckMFA(p.Default)}
	for _, policy := range p.Roles {
		errs = append(errs, CheckMFA(policy))
	}
	return errors.Join(errs...)
}
