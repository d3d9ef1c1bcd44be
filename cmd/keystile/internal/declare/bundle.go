package declare

import (
	"context"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/service"
)

const kindBundle = "bundle"

// bundleDoc is a bundle as a document has it.
type bundleDoc struct {
	Label       *string    `json:"label,omitempty"`
	Description *string    `json:"description,omitempty"`
	Tools       *[]string  `json:"tools,omitempty"`
	Rules       *[]ruleDoc `json:"rules,omitempty"`
}

type bundlesKind struct{ *Applier }

func (k bundlesKind) read(ctx context.Context, d Document) (typed bundleDoc, err error) {
	if err := into(d, &typed); err != nil {
		return typed, err
	}
	if !access.IsBundleName(d.Name) {
		return typed, d.wrong("name: the name of a bundle is 1 to 48 of A-Z a-z 0-9 _ -")
	}
	sortOnce(typed.Tools)
	if typed.Rules != nil {
		*typed.Rules, err = k.ruled(ctx, d, *typed.Rules)
	}
	return typed, err
}

func (k bundlesKind) want(ctx context.Context, d Document) (object, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	return objectOf(typed)
}

func bundleDocOf(b access.Bundle) bundleDoc {
	tools := append([]string{}, slices.Sorted(slices.Values(b.Tools))...)
	return bundleDoc{&b.Label, &b.Description, &tools, new(rules(b.Rules))}
}

func (k bundlesKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	b, err := k.c.Store.Bundle(ctx, d.Name)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, was, nil
	}
	if err != nil {
		return nil, was, err
	}
	o, err := objectOf(bundleDocOf(b))
	if err == nil {
		o["rules"], err = k.asWritten(ctx, b.Access())
	}
	return o, was, err
}

func (k bundlesKind) make(ctx context.Context, d Document, is *service.Declared) (map[string]string, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	b := access.Bundle{Name: d.Name, Tools: deref(typed.Tools)}
	if typed.Label != nil {
		b.Label = *typed.Label
	}
	if typed.Description != nil {
		b.Description = *typed.Description
	}
	if _, err := k.c.Tools.CreateBundle(ctx, k.c.By, b); err != nil || typed.Rules == nil {
		return nil, err
	}
	return nil, k.change(ctx, d, is, []string{"rules"})
}

func (k bundlesKind) change(ctx context.Context, d Document, _ *service.Declared, fields []string) error {
	typed, err := k.read(ctx, d)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(fields, func(f string) bool { return f != "rules" }) {
		c := toolacts.BundleChange{Label: typed.Label, Description: typed.Description, Tools: deref(typed.Tools)}
		if _, _, err := k.c.Tools.SetBundle(ctx, k.c.By, d.Name, c); err != nil {
			return err
		}
	}
	if !slices.Contains(fields, "rules") {
		return nil
	}
	_, _, err = k.c.Tools.SetBundleAccess(ctx, k.c.By, d.Name,
		toolacts.AccessChange{Reset: true, Add: stored(*typed.Rules)})
	return err
}

func (k bundlesKind) remove(ctx context.Context, was service.Declared) error {
	return k.c.Tools.DeleteBundle(ctx, k.c.By, was.Name)
}

func (k bundlesKind) all(ctx context.Context) (docs []Document, err error) {
	all, err := pages(func(from string) ([]access.Bundle, string, error) {
		return k.c.Store.Bundles(ctx, from, driver.Page)
	})
	for _, b := range all {
		record := bundleDocOf(b)
		if *record.Rules, err = k.exported(ctx, b.Rules); err != nil {
			return nil, err
		}
		d, err := document(kindBundle, b.Name, record)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, err
}
