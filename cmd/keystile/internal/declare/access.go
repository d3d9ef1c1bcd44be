package declare

import (
	"context"

	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/service"
)

const kindAccess = "access"

// accessDoc is the access list of the capability whose name the document has.
type accessDoc struct {
	Rules *[]ruleDoc `json:"rules,omitempty"`
}

type accessKind struct{ *Applier }

func (k accessKind) read(ctx context.Context, d Document) (typed accessDoc, err error) {
	if err := into(d, &typed); err != nil {
		return typed, err
	}
	if typed.Rules == nil {
		return typed, d.wrong("rules are missing: write [] for none")
	}
	*typed.Rules, err = k.ruled(ctx, d, *typed.Rules)
	return typed, err
}

func (k accessKind) want(ctx context.Context, d Document) (object, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	return objectOf(typed)
}

func (k accessKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	l, err := k.c.Store.Access(ctx, d.Name)
	if err != nil {
		return nil, was, err
	}
	if len(l.Rules) == 0 && was.Version == 0 {
		return nil, was, nil
	}
	listed, err := k.asWritten(ctx, l)
	return object{"rules": listed}, was, err
}

func (k accessKind) make(ctx context.Context, d Document, is *service.Declared) (map[string]string, error) {
	return nil, k.change(ctx, d, is, nil)
}

func (k accessKind) change(ctx context.Context, d Document, _ *service.Declared, _ []string) error {
	typed, err := k.read(ctx, d)
	if err != nil {
		return err
	}
	_, _, err = k.c.Tools.SetAccess(ctx, k.c.By, d.Name,
		toolacts.AccessChange{Reset: true, Add: stored(*typed.Rules)})
	return err
}

// remove takes the rules away. A list without rules leaves the tools to the default, and says so on the trail.
func (k accessKind) remove(ctx context.Context, was service.Declared) error {
	_, _, err := k.c.Tools.SetAccess(ctx, k.c.By, was.Name, toolacts.AccessChange{Reset: true})
	return err
}

func (k accessKind) all(ctx context.Context) (docs []Document, err error) {
	all, err := pages(func(from string) ([]access.List, string, error) {
		return k.c.Store.AccessLists(ctx, from, driver.Page)
	})
	for _, l := range all {
		listed, err := k.exported(ctx, l.Rules)
		if err != nil {
			return nil, err
		}
		d, err := document(kindAccess, l.Member, accessDoc{&listed})
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, err
}
