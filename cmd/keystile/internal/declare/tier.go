package declare

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/service"
)

const kindTier = "tier"

// tierDoc is the tier of the application whose name the document has.
type tierDoc struct {
	ClientID *string `json:"client_id,omitempty"`
	Tier     *string `json:"tier,omitempty"`
}

type tiersKind struct{ *Applier }

func (k tiersKind) read(d Document) (typed tierDoc, err error) {
	if err := into(d, &typed); err != nil {
		return typed, err
	}
	all := []string{storage.TierFree, storage.TierWhiteLabel, storage.TierEnterprise}
	if typed.Tier == nil || !slices.Contains(all, *typed.Tier) {
		return typed, d.wrong("tier is one of free, white_label, enterprise")
	}
	return typed, nil
}

func (k tiersKind) want(_ context.Context, d Document) (object, error) {
	typed, err := k.read(d)
	if err != nil {
		return nil, err
	}
	typed.ClientID = nil
	return objectOf(typed)
}

// app returns the application that a document means, whose own document may have made it.
func (k tiersKind) app(ctx context.Context, d Document, typed tierDoc) (storage.App, error) {
	of := d
	of.Kind = kindApplication
	made, err := k.c.Store.Declared(ctx, kindApplication, of.key())
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return storage.App{}, err
	}
	return appsKind(k).find(ctx, d, made, typed.ClientID)
}

func (k tiersKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	typed, err := k.read(d)
	if err != nil {
		return nil, was, err
	}
	app, err := k.app(ctx, d, typed)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, was, nil // a document before this one makes it
	}
	if err != nil {
		return nil, was, err
	}
	was.ID = app.ID
	o, err := objectOf(tierDoc{Tier: new(app.TierAt(time.Now()))})
	return o, was, err
}

func (k tiersKind) make(ctx context.Context, d Document, is *service.Declared) (map[string]string, error) {
	typed, err := k.read(d)
	if err != nil {
		return nil, err
	}
	app, err := k.app(ctx, d, typed)
	if errors.Is(err, storage.ErrNotFound) {
		err = d.wrong("there is no application of this name: declare it too")
	}
	if err != nil {
		return nil, err
	}
	is.ID = app.ID
	if app.TierAt(time.Now()) == *typed.Tier {
		return nil, nil
	}
	return nil, k.change(ctx, d, is, nil)
}

func (k tiersKind) change(ctx context.Context, d Document, is *service.Declared, _ []string) error {
	typed, err := k.read(d)
	if err != nil {
		return err
	}
	_, _, err = k.c.Apps.SetTier(ctx, k.c.By, is.ID, *typed.Tier, time.Time{})
	return err
}

func (k tiersKind) remove(ctx context.Context, was service.Declared) error {
	app, err := k.c.Store.App(ctx, was.ID)
	if err != nil || app.TierAt(time.Now()) == storage.TierFree {
		return err
	}
	_, _, err = k.c.Apps.SetTier(ctx, k.c.By, was.ID, storage.TierFree, time.Time{})
	return err
}

func (k tiersKind) all(ctx context.Context) (docs []Document, err error) {
	apps, named, err := k.applications(ctx)
	if err != nil {
		return nil, err
	}
	for _, app := range apps {
		record := tierDoc{Tier: new(app.TierAt(time.Now()))}
		if *record.Tier == storage.TierFree {
			continue
		}
		if named[app.Name] > 1 {
			record.ClientID = &app.ID
		}
		d, err := document(kindTier, app.Name, record)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}
