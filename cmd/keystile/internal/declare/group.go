package declare

import (
	"context"
	"errors"

	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/service"
)

const kindGroup = "group"

// groupDoc is a group as a document has it. Its members are no part of it: there may be a million of them.
type groupDoc struct {
	Label    *string   `json:"label,omitempty"`
	Managers *[]string `json:"managers,omitempty"`
}

type groupsKind struct{ *Applier }

func (k groupsKind) read(ctx context.Context, d Document) (typed groupDoc, err error) {
	if err := into(d, &typed); err != nil {
		return typed, err
	}
	if !access.IsGroupName(d.Name) {
		return typed, d.wrong("name: the name of a group is %s", access.GroupNameForm)
	}
	if typed.Managers != nil {
		*typed.Managers, err = k.subs(ctx, d, "managers", *typed.Managers)
	}
	return typed, err
}

func (k groupsKind) want(ctx context.Context, d Document) (object, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	return objectOf(typed)
}

func groupDocOf(g groups.Group) groupDoc {
	managers := append([]string{}, g.Managers...)
	return groupDoc{&g.Label, &managers}
}

func (k groupsKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	g, err := k.c.Store.Group(ctx, d.Name)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, was, nil
	}
	if err != nil {
		return nil, was, err
	}
	o, err := objectOf(groupDocOf(g))
	return o, was, err
}

func (k groupsKind) make(ctx context.Context, d Document, _ *service.Declared) (map[string]string, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	g := groups.Group{Name: d.Name}
	if typed.Label != nil {
		g.Label = *typed.Label
	}
	if typed.Managers != nil {
		g.Managers = *typed.Managers
	}
	_, err = k.c.Groups.Create(ctx, k.c.By, g)
	return nil, err
}

func (k groupsKind) change(ctx context.Context, d Document, _ *service.Declared, _ []string) error {
	typed, err := k.read(ctx, d)
	if err != nil {
		return err
	}
	c := groupacts.Change{Label: typed.Label}
	if typed.Managers != nil {
		c.Managers.Instead = *typed.Managers
	}
	_, _, err = k.c.Groups.Set(ctx, k.c.By, d.Name, c)
	return err
}

func (k groupsKind) remove(ctx context.Context, was service.Declared) error {
	return k.c.Groups.Delete(ctx, k.c.By, was.Name)
}

func (k groupsKind) all(ctx context.Context) (docs []Document, err error) {
	all, err := pages(func(from string) ([]groups.Group, string, error) {
		return k.c.Store.FindGroups(ctx, "", from, driver.Page)
	})
	for _, g := range all {
		record := groupDocOf(g)
		for i, sub := range *record.Managers {
			if (*record.Managers)[i], err = k.username(ctx, sub); err != nil {
				return nil, err
			}
		}
		d, err := document(kindGroup, g.Name, record)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, err
}
