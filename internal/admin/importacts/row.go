package importacts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/people"
)

// Row is a user as a file has them. There is no role in it: administrators give it by hand.
type Row struct {
	Username      string            `json:"username"`
	Email         string            `json:"email,omitempty"`
	EmailVerified bool              `json:"email_verified,omitempty"`
	Name          string            `json:"name,omitempty"`
	Nickname      string            `json:"nickname,omitempty"`
	PasswordHash  string            `json:"password_hash,omitempty"` // of another product; "": no password
	Groups        []string          `json:"groups,omitempty"`
	Attributes    map[string]string `json:"attributes,omitempty"`
	ExternalIDs   []string          `json:"external_ids,omitempty"` // oidc:ISSUER:SUB, or METHOD:SUBJECT of any connector
	Disabled      bool              `json:"disabled,omitempty"`
}

// Limits of a row, beside those of users.
const (
	MaxExternalIDs = 20
	maxText        = 200 // bytes of a name
	maxEmail       = 254 // bytes
	maxSubject     = 400 // bytes of an external id
)

// mark returns what tells a row from every other one: a digest of all that it says. A user keeps that of the row that
// they were made by.
func (r Row) mark() string {
	r.Groups = sorted(r.Groups)
	r.ExternalIDs = sorted(r.ExternalIDs)
	text, _ := json.Marshal(r) // there is nothing in it that cannot be written
	sum := sha256.Sum256(append([]byte("keystile user import\n"), text...))
	return hex.EncodeToString(sum[:16])
}

func sorted(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// user is a row that has been checked, as it is written.
type user struct {
	people.Newcomer
	names []string       // of groups
	in    []groups.Group // by these names
}

// prepare checks what can be checked of a row alone.
func (a *Acts) prepare(ctx context.Context, r Row) (user, error) {
	n := user{names: sorted(r.Groups)}
	n.User = storage.User{Username: r.Username, Name: r.Name, Nickname: r.Nickname, Email: r.Email,
		EmailVerified: r.Email != "" && r.EmailVerified, Attributes: maps.Clone(r.Attributes), Disabled: r.Disabled,
		Imported: r.mark()}
	if err := cmp.Or(checkText("name", r.Name, maxText), checkText("nickname", r.Nickname, maxText),
		checkText("email", r.Email, maxEmail), checkGroups(n.names)); err != nil {
		return n, err
	}
	u, self, err := a.c.Adopt(ctx, n.User, r.PasswordHash)
	if err != nil {
		return n, err
	}
	n.User, n.By = u, []storage.Login{self}
	if n.User.EmailVerified {
		if n.User.Email, err = a.c.Mailbox(r.Email); err != nil {
			return n, fmt.Errorf("%w: email %q is verified, so the user signs in by it: %w", storage.ErrInvalid, r.Email, err)
		}
		n.By = append(n.By, storage.Login{Method: storage.LoginEmail, Subject: n.User.Email})
	}
	ids := sorted(r.ExternalIDs)
	if len(ids) > MaxExternalIDs {
		return n, fmt.Errorf("%w: external_ids: at most %d", storage.ErrInvalid, MaxExternalIDs)
	}
	for _, id := range ids {
		l, err := a.login(id)
		if err != nil {
			return n, err
		}
		n.By = append(n.By, l)
	}
	return n, n.User.Check()
}

func checkText(field, text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%w: %s: one line of text, of at most %d bytes", storage.ErrInvalid, field, most)
	}
	return nil
}

func checkGroups(names []string) error {
	if len(names) > groups.MaxGroupsOfUser {
		return groups.ErrTooManyGroups
	}
	for _, name := range names {
		if !access.IsGroupName(name) {
			return fmt.Errorf("%w: groups: %q: the name of a group is %s", storage.ErrInvalid, name, access.GroupNameForm)
		}
	}
	return nil
}

var (
	methodShape = pattern.Lazy(`^[a-z][a-z0-9-]{0,31}$`)
	// The issuer of an id that is oidc:ISSUER:SUB ends at the first colon behind its host and port.
	issuerShape = pattern.Lazy(`^(https?://(?:\[[^\]]*\]|[^/:\[\]]+)(?::[0-9]+)?(?:/[^:]*)?):(.+)$`)
)

var errExternalID = errors.New("write oidc:ISSUER:SUB, or METHOD:SUBJECT as the connector METHOD names the user")

// login returns the login of an external id. An issuer belongs to the connector that is configured for it; to "oidc",
// as connectors.oidc calls one that is given no name, if none is.
func (a *Acts) login(id string) (storage.Login, error) {
	method, subject, _ := strings.Cut(id, ":")
	l := storage.Login{Method: method, Subject: subject}
	if method == "oidc" && strings.Contains(subject, "://") && !strings.HasPrefix(subject, "i:") {
		issuer, sub := a.issuerOf(subject)
		if sub == "" {
			return l, fmt.Errorf("%w: external_ids: %q: %w", storage.ErrInvalid, id, errExternalID)
		}
		l = storage.Login{Method: cmp.Or(a.c.Issuers[issuer], "oidc"), Subject: "i:" + issuer + "#" + sub}
	}
	switch {
	case !methodShape().MatchString(l.Method), l.Method == storage.LoginSelf, l.Method == storage.LoginEmail,
		l.Subject == "", len(l.Subject) > maxSubject, checkText("", l.Subject, maxSubject) != nil:
		return l, fmt.Errorf("%w: external_ids: %q: %w", storage.ErrInvalid, id, errExternalID)
	}
	return l, nil
}

// issuerOf splits ISSUER:SUB. Either may have colons: an issuer that is configured comes first.
func (a *Acts) issuerOf(text string) (issuer, sub string) {
	for known := range a.c.Issuers {
		if rest, is := strings.CutPrefix(text, known+":"); is && len(known) > len(issuer) {
			issuer, sub = known, rest
		}
	}
	if parts := issuerShape().FindStringSubmatch(text); issuer == "" && parts != nil {
		issuer, sub = parts[1], parts[2]
	}
	return issuer, sub
}
