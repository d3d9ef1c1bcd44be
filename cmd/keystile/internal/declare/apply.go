package declare

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/service"
)

// Config holds what New needs: the acts by which an operator changes a service.
type Config struct {
	Store      *storage.Store
	By         admin.Actor
	Groups     *groupacts.Acts
	Apps       *appacts.Acts
	Tools      *toolacts.Acts
	Registry   *registry.Registry
	Connectors []string                                                     // that may have a mapping of groups
	Owner      storage.User                                                 // whose rights the registrar goes by
	User       func(ctx context.Context, name string) (storage.User, error) // by username or sub
}

// Applier applies documents, one run after the other. Make it with New.
type Applier struct {
	c     Config
	kinds map[string]kind
	fresh map[string]bool // the groups that the run makes: what names them means others until it is written again
}

// order lists the kinds, each behind those that it may name.
var order = []string{kindGroup, kindConnector, kindApplication, kindTier, kindCapability, kindBundle, kindAccess}

// kind reads and writes things of one kind.
type kind interface {
	// want returns what a document says, in the form that now returns, with the fields of the document alone.
	want(ctx context.Context, d Document) (object, error)
	// now returns what there is, nil if nothing; was says what a document of the name has made before, if any has.
	now(ctx context.Context, d Document, was service.Declared) (there object, is service.Declared, err error)
	// make makes what is declared, and returns what was drawn for it, by field.
	make(ctx context.Context, d Document, is *service.Declared) (drawn map[string]string, err error)
	// change changes the fields that are named.
	change(ctx context.Context, d Document, is *service.Declared, fields []string) error
	remove(ctx context.Context, was service.Declared) error
	// all returns a document for each thing that there is.
	all(ctx context.Context) ([]Document, error)
}

// New makes an Applier.
func New(c Config) *Applier {
	a := &Applier{c: c}
	a.kinds = map[string]kind{kindGroup: groupsKind{a}, kindConnector: connectorsKind{a}, kindApplication: appsKind{a},
		kindTier: tiersKind{a}, kindCapability: capabilitiesKind{a}, kindBundle: bundlesKind{a}, kindAccess: accessKind{a}}
	return a
}

// Options says how documents are applied.
type Options struct {
	DryRun bool // nothing is changed
	Prune  bool // what an earlier run has made, and no document declares any more, is removed

	// NoSecrets refuses documents for which a secret is drawn, because there is nowhere to show it.
	NoSecrets bool
}

// Change is a field that changes. Values are JSON; of a secret, and of what is as long as one, they are words.
type Change struct {
	Field string `json:"field"`
	From  string `json:"from,omitempty"`
	To    string `json:"to"`
}

// Text says in one line what a field was and is to be.
func (c Change) Text() string {
	if c.From == "" {
		return c.To
	}
	return c.From + " -> " + c.To
}

// Step says what is done for a document.
type Step struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Action  string   `json:"action"` // create, change, remove or none
	Changes []Change `json:"changes,omitempty"`

	doc   Document
	is    *service.Declared // steps about the same thing share it
	waits bool              // the thing has a later step
}

// draws reports whether a step draws a secret: that of an application that is not public.
func (s Step) draws() bool {
	return s.Kind == kindApplication && s.Action == Create && string(s.doc.Fields["public"]) != "true"
}

// errNowhere refuses to draw secrets that nobody would see.
var errNowhere = fmt.Errorf("%w: new applications get secrets, which are shown once: say with --secrets FILE where "+
	"they are to be written", storage.ErrInvalid)

// Actions of a Step.
const (
	Create = "create"
	Modify = "change"
	Remove = "remove"
	None   = "none"
)

// Result says what was done, or of a dry run, what would be.
type Result struct {
	Steps   []Step                       `json:"steps"`
	Secrets map[string]map[string]string `json:"secrets,omitempty"` // that were drawn, by "kind name", and field
	Failed  string                       `json:"failed,omitempty"`  // why the steps that are not here were not done
}

// Apply makes the service what documents say. An error says how far it came; the Result has the steps that were done.
func (a *Applier) Apply(ctx context.Context, docs []Document, o Options) (r Result, err error) {
	if err := twice(docs); err != nil {
		return r, err
	}
	if o.DryRun {
		r.Steps, err = a.plan(ctx, docs, o)
		return r, err
	}
	holder := rand.Text()
	if err := a.c.Store.HoldApply(ctx, holder); err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, a.c.Store.ReleaseApply(context.WithoutCancel(ctx), holder))
	}()
	steps, err := a.plan(ctx, docs, o)
	if err != nil {
		return r, err
	}
	if o.NoSecrets && slices.ContainsFunc(steps, Step.draws) {
		return r, errNowhere
	}
	r.Secrets = map[string]map[string]string{}
	for i, s := range steps {
		if err := a.c.Store.HoldApply(ctx, holder); err != nil { // it took longer than it may, and another one began
			return r, stopped(i, len(steps), err)
		}
		drawn, err := a.do(ctx, s)
		if len(drawn) > 0 {
			r.Secrets[s.Kind+" "+s.Name] = drawn
		}
		if err != nil {
			return r, stopped(i, len(steps), fmt.Errorf("%s %q: %w", s.Kind, s.Name, err))
		}
		r.Steps = append(r.Steps, s)
	}
	return r, nil
}

func stopped(done, all int, err error) error {
	return fmt.Errorf("%d of %d steps are done, and the others are not: apply again when this is mended: %w", done, all,
		err)
}

// do does a step. That something is made is written down before it is, so that a run which breaks off in between leaves
// nothing that a later one does not know.
func (a *Applier) do(ctx context.Context, s Step) (drawn map[string]string, err error) {
	k := a.kinds[s.Kind]
	switch s.Action {
	case None:
		if s.is.Waits == s.waits {
			return nil, nil
		}
	case Remove:
		if err := k.remove(ctx, *s.is); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		return nil, a.c.Store.RemoveDeclared(ctx, *s.is)
	case Create:
		s.is.Made, s.is.Waits = true, s.waits
		if *s.is, err = a.c.Store.SaveDeclared(ctx, *s.is); err != nil {
			return nil, err
		}
		drawn, err = k.make(ctx, s.doc, s.is)
		refused := errors.Is(err, storage.ErrInvalid) || errors.Is(err, storage.ErrExists) ||
			errors.Is(err, storage.ErrNotFound)
		if refused && len(drawn) == 0 {
			// Somebody may make one of the name by hand, which this document must not remove.
			return nil, errors.Join(err, a.c.Store.RemoveDeclared(ctx, *s.is))
		}
		if err != nil {
			return drawn, err
		}
	default:
		fields := make([]string, len(s.Changes))
		for i, c := range s.Changes {
			fields[i] = c.Field
		}
		if err := k.change(ctx, s.doc, s.is, fields); err != nil {
			return nil, err
		}
	}
	s.is.Waits = s.waits
	*s.is, err = a.c.Store.SaveDeclared(ctx, *s.is)
	return drawn, err
}

// Export returns a document for each thing that can be declared, in the order in which they would be applied.
func (a *Applier) Export(ctx context.Context) (all []Document, err error) {
	for _, name := range order {
		some, err := a.kinds[name].all(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
