package declare

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/service"
)

// plan returns the steps, in the order in which they are to be done.
func (a *Applier) plan(ctx context.Context, docs []Document, o Options) (steps []Step, err error) {
	docs = slices.SortedStableFunc(slices.Values(docs), func(x, y Document) int {
		return cmp.Compare(slices.Index(order, x.Kind), slices.Index(order, y.Kind))
	})
	var errs []error
	named := map[[2]string]bool{}
	a.fresh = map[string]bool{}
	for _, d := range docs {
		named[[2]string{d.Kind, d.key()}] = true
		s, err := a.step(ctx, d)
		steps, errs = append(steps, s), append(errs, err)
		a.fresh[d.Name] = a.fresh[d.Name] || d.Kind == kindGroup && s.Action == Create
	}
	if err := errors.Join(errs...); err != nil {
		return steps, err
	}
	if steps = publishedLast(steps); !o.Prune {
		return steps, nil
	}
	gone, err := a.undeclared(ctx, named)
	return append(steps, gone...), err
}

// step compares a document with what there is.
func (a *Applier) step(ctx context.Context, d Document) (s Step, err error) {
	s = Step{Kind: d.Kind, Name: d.Name, doc: d}
	k := a.kinds[d.Kind]
	was, err := a.c.Store.Declared(ctx, d.Kind, d.key())
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return s, err
	}
	was.Kind, was.Name = d.Kind, d.key()
	if was.Waits && d.Fields[publishField] == nil { // for what an earlier run did not come to
		d = d.publishing(true)
		s.doc = d
	}
	want, err := k.want(ctx, d)
	if err != nil {
		return s, err
	}
	there, is, err := k.now(ctx, d, was)
	if err != nil {
		return s, err
	}
	s.is, s.Action = &is, Modify
	if there == nil {
		s.Action = Create
	}
	for _, field := range slices.Sorted(maps.Keys(want)) {
		if to := want[field]; there == nil || there[field] != to {
			s.Changes = append(s.Changes, Change{field, there[field].shown(), to.shown()})
		}
	}
	if there != nil && len(s.Changes) == 0 {
		s.Action = None
	}
	return s, nil
}

// undeclared returns the steps that remove what earlier runs have made and no document names, the last kinds first. A
// capability goes before its rules, without which its tools might be anybody's for a moment.
func (a *Applier) undeclared(ctx context.Context, named map[[2]string]bool) (steps []Step, err error) {
	all, err := pages(func(from string) ([]service.Declared, string, error) {
		return a.c.Store.AllDeclared(ctx, from, driver.Page)
	})
	for _, was := range all {
		if was.Made && !named[[2]string{was.Kind, was.Name}] && a.kinds[was.Kind] != nil {
			steps = append(steps, Step{Kind: was.Kind, Name: was.Name, Action: Remove, is: &was})
		}
	}
	turn := []string{kindBundle, kindCapability, kindAccess, kindTier, kindApplication, kindConnector, kindGroup}
	slices.SortStableFunc(steps, func(x, y Step) int {
		return cmp.Or(cmp.Compare(slices.Index(turn, x.Kind), slices.Index(turn, y.Kind)), cmp.Compare(x.Name, y.Name))
	})
	return steps, err
}
