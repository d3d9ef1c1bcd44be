package people

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/toolplan"
	"github.com/keystile/keystile/storage/tools"
)

// Consent records what a user has allowed an application to learn and to do.
type Consent struct {
	AppID     string    `json:"app"`
	UserID    string    `json:"user"`            // the user's sub
	Scope     string    `json:"scope"`           // what was allowed: sorted, separated by spaces
	Asked     string    `json:"asked,omitempty"` // what was asked for where the user allowed less, such as one bundle of tools; likewise
	Since     string    `json:"since,omitempty"` // NAME@TIME of each name of Scope and Asked that opens a capability, separated by spaces: when it was allowed; written by the Store
	Terms     string    `json:"terms,omitempty"` // App.Terms when the user was asked; other terms take another consent
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`

	// Once was allowed for one grant, which uses it up, and can be used until OnceUntil.
	Once      string    `json:"once,omitempty"`
	OnceUntil time.Time `json:"once_until,omitzero"`
	carried
}

var consents = document.Kind[Consent]{
	Name:    "consent",
	ID:      func(c Consent) string { return c.AppID + "=" + c.UserID },
	Index:   func(c Consent) []string { return []string{"user=" + c.UserID, "app=" + c.AppID} },
	Version: func(c *Consent) *int64 { return &c.Version },
}

// With is the consent with more in it.
func (c Consent) With(scope string) Consent {
	c.Scope = union(c.Scope, scope)
	return c
}

func union(scope, more string) string {
	all := strings.Fields(scope + " " + more)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// Consent returns what a user has allowed an application, or ErrNotFound. Nothing is in it that opens a
// capability whose name has passed to another owner since: the user has not allowed theirs.
func (s *Store) Consent(ctx context.Context, appID, sub string) (Consent, error) {
	c, err := document.Get(ctx, s.docs, consents, consents.ID(Consent{AppID: appID, UserID: sub}))
	if err != nil {
		return c, err
	}
	return c, withoutOthers(ctx, s.docs, &c, map[string]time.Time{})
}

// Consents returns everything a user has allowed.
func (s *Store) Consents(ctx context.Context, sub string) ([]Consent, error) {
	all, err := document.All(ctx, s.docs, consents, driver.Is("user="+sub))
	return all, cmp.Or(err, allWithoutOthers(ctx, s.docs, all))
}

// ConsentsOf is Consents for a page of up to n, from the start or from a next of before.
func (s *Store) ConsentsOf(ctx context.Context, sub, from string, n int) ([]Consent, string, error) {
	all, next, err := document.Page(ctx, s.docs, consents, "user="+sub, from, n)
	return all, next, cmp.Or(err, allWithoutOthers(ctx, s.docs, all))
}

// ConsentsOfApp returns a page of up to n of what users have allowed an application, from the start or
// from a next of before.
func (s *Store) ConsentsOfApp(ctx context.Context, appID, from string, n int) ([]Consent, string, error) {
	all, next, err := document.Page(ctx, s.docs, consents, "app="+appID, from, n)
	return all, next, cmp.Or(err, allWithoutOthers(ctx, s.docs, all))
}

func allWithoutOthers(ctx context.Context, in *document.Store, all []Consent) error {
	known := map[string]time.Time{}
	for i := range all {
		if err := withoutOthers(ctx, in, &all[i], known); err != nil {
			return err
		}
	}
	return nil
}

// withoutOthers takes out of a consent what opens capabilities whose names have passed to another owner after it
// was allowed. known holds, by name, since when capabilities have been their owners'.
func withoutOthers(ctx context.Context, in *document.Store, c *Consent, known map[string]time.Time) (err error) {
	gone := map[string]bool{}
	passed := func(name string) bool {
		member, ok := memberOfScope(name)
		if !ok || err != nil {
			return false
		}
		since, read := known[member]
		if !read {
			var there tools.Capability
			there, err = document.Find(ctx, in, tools.Capabilities, member)
			since = there.Since()
			known[member] = since
		}
		if !since.After(c.allowedAt(name)) {
			return false
		}
		gone[name] = true
		return true
	}
	for _, names := range []*string{&c.Scope, &c.Asked} {
		if strings.Contains(*names, memberScope) {
			*names = strings.Join(slices.DeleteFunc(strings.Fields(*names), passed), " ")
		}
	}
	if len(gone) > 0 {
		dates := slices.DeleteFunc(strings.Fields(c.Since), func(date string) bool {
			name, _, _ := strings.Cut(date, "@")
			return gone[name]
		})
		c.Since = strings.Join(dates, " ")
	}
	return err
}

// allowedAt returns when a name was allowed, or a time before.
func (c Consent) allowedAt(name string) time.Time {
	for date := range strings.FieldsSeq(c.Since) {
		if of, at, _ := strings.Cut(date, "@"); of == name {
			if when, err := time.Parse(time.RFC3339Nano, at); err == nil {
				return when
			}
		}
	}
	return c.CreatedAt
}

const memberScope = "tools:" // of a capability, tools:shop, or of a tool, tools:shop/order

// memberOfScope returns the capability that a scope opens, or a tool of it.
func memberOfScope(name string) (member string, ok bool) {
	text, ok := strings.CutPrefix(name, memberScope)
	member, _, _ = strings.Cut(text, "/")
	return member, ok && toolplan.IsMember(member)
}

// dated returns the consent with the time of each name that opens a capability.
func (c Consent) dated(at time.Time) Consent {
	var dates []string
	for name := range strings.FieldsSeq(union(c.Scope, c.Asked)) {
		if _, ok := memberOfScope(name); !ok {
			continue
		}
		when := at
		if strings.Contains(" "+c.Since, " "+name+"@") {
			when = c.allowedAt(name)
		}
		dates = append(dates, name+"@"+when.UTC().Format(time.RFC3339Nano))
	}
	c.Since = strings.Join(dates, " ")
	return c
}

// SaveConsent writes a consent. A new one of a user who is being erased is an ErrNotFound.
func (s *Store) SaveConsent(ctx context.Context, c Consent) (Consent, error) {
	c.UpdatedAt = time.Now().UTC()
	if c.Version == 0 {
		c.CreatedAt = c.UpdatedAt
	}
	c = c.dated(c.UpdatedAt)
	return document.PutNew(ctx, s.docs, consents, c.UserID, c)
}

// EndConsent removes a consent that has been read before. The tokens granted under it are
// ended by a revocation of kind consent, which the caller writes afterwards: with a Before
// that is later than this call, it also covers what was being granted meanwhile.
func (s *Store) EndConsent(ctx context.Context, c Consent) error {
	return document.Remove(ctx, s.docs, consents, c)
}
