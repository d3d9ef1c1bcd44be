package declare

import (
	"context"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/service"
)

const kindApplication = "application"

// appDoc is an application as a document has it. Its name is that of the document.
type appDoc struct {
	ClientID             *string     `json:"client_id,omitempty"`
	Domains              *[]string   `json:"domains,omitempty"`
	RedirectURIs         *[]string   `json:"redirect_uris,omitempty"`
	BackchannelLogoutURI *string     `json:"backchannel_logout_uri,omitempty"`
	Public               *bool       `json:"public,omitempty"`
	IDTokenAlg           *string     `json:"id_token_alg,omitempty"`
	LegacySuccessCode    *int        `json:"legacy_success_code,omitempty"`
	Brand                *brandDoc   `json:"brand,omitempty"`
	MFA                  *string     `json:"mfa,omitempty"`
	DPoP                 *string     `json:"dpop,omitempty"`
	FirstParty           *bool       `json:"first_party,omitempty"`
	Disabled             *bool       `json:"disabled,omitempty"`
	AllowHTTPRedirect    *bool       `json:"allow_http_redirect,omitempty"`
	ForbidPlain          *bool       `json:"forbid_plain,omitempty"`
	ForbidPlainKey       *bool       `json:"forbid_plain_key,omitempty"`
	LegacyNested         *bool       `json:"legacy_nested,omitempty"`
	Owner                *string     `json:"owner,omitempty"`
	Allow                *[]string   `json:"allow,omitempty"`
	Deny                 *[]string   `json:"deny,omitempty"`
	GroupFilter          *[]string   `json:"group_filter,omitempty"`
	GroupsInAccessToken  *bool       `json:"groups_in_access_token,omitempty"`
	Claims               *[]claimDoc `json:"claims,omitempty"`
	keysDoc
}

// brandDoc is the look of an application's pages.
type brandDoc struct {
	Name  string `json:"name,omitempty"`
	Logo  string `json:"logo,omitempty"`
	Color string `json:"color,omitempty"`
}

// claimDoc is a rule about claims.
type claimDoc = claim.Rule

type appsKind struct{ *Applier }

// read returns what a document says, as an application that is stored would say it.
func (k appsKind) read(ctx context.Context, d Document) (typed appDoc, err error) {
	if err := into(d, &typed); err != nil {
		return typed, err
	}
	if typed.Domains != nil {
		for i, typedDomain := range *typed.Domains {
			if (*typed.Domains)[i], err = storage.NormalizeDomain(typedDomain); err != nil {
				return typed, d.wrong("domains: %w", err)
			}
		}
	}
	for _, list := range []*[]string{typed.Domains, typed.RedirectURIs, typed.GroupFilter, typed.ExchangeFor} {
		sortOnce(list)
	}
	for _, list := range []*[]string{typed.Allow, typed.Deny} {
		for i := range deref(list) {
			if (*list)[i], err = k.subject(ctx, d, (*list)[i]); err != nil {
				return typed, err
			}
		}
		sortOnce(list)
	}
	if typed.Allow != nil && slices.Equal(*typed.Allow, []string{access.SubjectEveryone}) {
		*typed.Allow = []string{} // the default
	}
	if typed.Keys != nil {
		typed.Keys = inOrder(typed.Keys)
	}
	if typed.Owner != nil {
		*typed.Owner, err = k.owner(ctx, d, *typed.Owner)
	}
	if err == nil && typed.Claims != nil {
		if wrong := claim.Check(*typed.Claims); wrong != nil {
			err = d.wrong("%w", wrong)
		}
	}
	return typed, err
}

func deref(list *[]string) []string {
	if list == nil {
		return nil
	}
	return *list
}

func sortOnce(list *[]string) {
	if list != nil {
		*list = append([]string{}, slices.Compact(slices.Sorted(slices.Values(*list)))...)
	}
}

func (k appsKind) want(ctx context.Context, d Document) (object, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	typed.ClientID = nil // which one is meant is nothing that changes
	return objectOf(typed)
}

// appDocOf returns the document of an application that is stored.
func appDocOf(app storage.App) appDoc {
	list := func(texts []string) *[]string {
		all := append([]string{}, slices.Sorted(slices.Values(texts))...)
		return &all
	}
	d := appDoc{Domains: list(app.Domains), RedirectURIs: list(app.RedirectURIs),
		BackchannelLogoutURI: &app.BackchannelLogoutURI, Public: &app.Public, IDTokenAlg: new(app.SignsIDTokensWith()),
		LegacySuccessCode: new(app.SuccessCode()), Brand: new(brandDoc{}), MFA: &app.MFA, DPoP: new(app.KeyBinding()),
		FirstParty: &app.FirstParty,
		Disabled:   &app.Disabled, AllowHTTPRedirect: &app.AllowHTTPRedirect, ForbidPlain: &app.ForbidPlain,
		ForbidPlainKey: &app.ForbidPlainKey, LegacyNested: &app.LegacyNested, Owner: new(app.Owner),
		GroupFilter: list(app.GroupFilter), GroupsInAccessToken: &app.GroupsInAccessToken,
		Claims: new(append([]claimDoc{}, app.Claims...)), Allow: list(nil), Deny: list(nil)}
	if app.Brand != nil {
		*d.Brand = brandDoc{app.Brand.Name, app.Brand.Logo, app.Brand.Color}
	}
	if app.Admission != nil {
		d.Allow, d.Deny = list(app.Admission.Allow), list(app.Admission.Deny)
	}
	d.keysDoc = keysDocOf(app)
	return d
}

// find returns the application that a document means: the one that it names, the one that a document of its name has
// made, or the only one of that name.
func (k appsKind) find(ctx context.Context, d Document, was service.Declared, id *string) (storage.App, error) {
	if id != nil {
		app, err := k.c.Store.App(ctx, *id)
		if errors.Is(err, storage.ErrNotFound) {
			err = d.wrong("client_id: there is no application %q; leave it out to have one made", *id)
		}
		return app, err
	}
	if was.ID != "" {
		app, err := k.c.Store.App(ctx, was.ID)
		if !errors.Is(err, storage.ErrNotFound) {
			return app, err
		}
	}
	found, err := pages(func(from string) ([]storage.App, string, error) {
		return k.c.Store.FindApps(ctx, d.Name, "", from, driver.Page/2)
	})
	if err != nil {
		return storage.App{}, err
	}
	found = slices.DeleteFunc(found, func(app storage.App) bool { return app.Name != d.Name })
	switch len(found) {
	case 0:
		return storage.App{}, storage.ErrNotFound
	case 1:
		return found[0], nil
	}
	return storage.App{}, d.wrong("there are %d applications of this name: say which one with client_id", len(found))
}

func (k appsKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, was, err
	}
	app, err := k.find(ctx, d, was, typed.ClientID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, was, nil
	}
	if err != nil {
		return nil, was, err
	}
	if typed.Public != nil && *typed.Public != app.Public {
		return nil, was, d.wrong("public: an application stays what it was made: give another one a name of its own")
	}
	was.ID = app.ID
	o, err := objectOf(appDocOf(app))
	if err != nil || app.Admission == nil {
		return o, was, err
	}
	old, err := k.outdated(ctx, app.Admission.Allow, app.Admission.Since)
	if old {
		o["allow"] = value{word: o["allow"].text + " of another group"}
	}
	return o, was, err
}

// changes returns what a document says, as acts take it.
func (k appsKind) changes(ctx context.Context, d Document) (c appacts.Change, typed appDoc, err error) {
	if typed, err = k.read(ctx, d); err != nil {
		return c, typed, err
	}
	c = appacts.Change{Name: &d.Name, BackchannelLogoutURI: typed.BackchannelLogoutURI, IDTokenAlg: typed.IDTokenAlg,
		LegacySuccessCode: typed.LegacySuccessCode, MFA: typed.MFA, DPoP: typed.DPoP, FirstParty: typed.FirstParty,
		Disabled:          typed.Disabled,
		AllowHTTPRedirect: typed.AllowHTTPRedirect, ForbidPlain: typed.ForbidPlain, ForbidPlainKey: typed.ForbidPlainKey,
		LegacyNested: typed.LegacyNested, Owner: typed.Owner}
	c.Domains.Instead, c.RedirectURIs.Instead = deref(typed.Domains), deref(typed.RedirectURIs)
	c.Allow, c.Deny = deref(typed.Allow), deref(typed.Deny)
	if typed.Allow != nil && len(*typed.Allow) == 0 {
		c.Allow = []string{access.SubjectEveryone}
	}
	c.Learns = appacts.Learns{GroupFilter: deref(typed.GroupFilter), GroupsInAccessToken: typed.GroupsInAccessToken}
	c.Proves = typed.keysDoc.changes()
	if typed.Claims != nil {
		c.Learns.Claims = append([]claimDoc{}, *typed.Claims...)
	}
	if b := typed.Brand; b != nil {
		c.Brand = appacts.Brand{Name: &b.Name, Logo: &b.Logo, Color: &b.Color}
	}
	return c, typed, nil
}

func (k appsKind) make(ctx context.Context, d Document, is *service.Declared) (map[string]string, error) {
	c, typed, err := k.changes(ctx, d)
	if err != nil {
		return nil, err
	}
	app, err := k.c.Apps.Create(ctx, k.c.By, appacts.NewApp{Change: c, Public: typed.Public != nil && *typed.Public})
	if is.ID = app.ID; err != nil && app.ID == "" {
		return nil, err
	}
	drawn := map[string]string{"client_id": app.ID}
	if !app.Public {
		drawn["client_secret"] = app.AppKey().Reveal()
	}
	return drawn, err
}

func (k appsKind) change(ctx context.Context, d Document, is *service.Declared, _ []string) error {
	c, _, err := k.changes(ctx, d)
	if err != nil {
		return err
	}
	_, _, err = k.c.Apps.Set(ctx, k.c.By, is.ID, c)
	return err
}

func (k appsKind) remove(ctx context.Context, was service.Declared) error {
	if was.ID == "" { // the run that was to make it broke off before
		return nil
	}
	_, err := k.c.Apps.Delete(ctx, k.c.By, was.ID)
	return err
}

// applications returns all applications that are registered here, and how many there are of each name.
func (a *Applier) applications(ctx context.Context) (all []storage.App, named map[string]int, err error) {
	all, err = pages(func(from string) ([]storage.App, string, error) {
		return a.c.Store.Apps(ctx, "", from, driver.Page)
	})
	named = map[string]int{}
	for _, app := range all {
		named[app.Name]++
	}
	return all, named, err
}

func (k appsKind) all(ctx context.Context) (docs []Document, err error) {
	apps, named, err := k.applications(ctx)
	if err != nil {
		return nil, err
	}
	for _, app := range apps {
		record := appDocOf(app)
		if named[app.Name] > 1 {
			record.ClientID = &app.ID
		}
		if *record.Owner, err = k.username(ctx, app.Owner); err != nil {
			return nil, err
		}
		for _, list := range []*[]string{record.Allow, record.Deny} {
			for i := range *list {
				if (*list)[i], err = k.named(ctx, (*list)[i]); err != nil {
					return nil, err
				}
			}
		}
		d, err := document(kindApplication, app.Name, record)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}
