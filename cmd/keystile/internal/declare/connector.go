package declare

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/service"
)

const kindConnector = "connector"

// connectorDoc says which groups the users of the connector are in whose name the document has.
type connectorDoc struct {
	GroupsClaim *string            `json:"groups_claim,omitempty"`
	GroupsMap   *map[string]string `json:"groups_map,omitempty"`
}

type connectorsKind struct{ *Applier }

// read returns what a document says. A connector that is not configured is refused: its mapping would wait, for users
// of a provider whom nobody has chosen yet.
func (k connectorsKind) read(d Document) (m groups.Mapping, err error) {
	var typed connectorDoc
	if err := into(d, &typed); err != nil {
		return m, err
	}
	if !slices.Contains(k.c.Connectors, d.Name) {
		are := "it has none"
		if len(k.c.Connectors) > 0 {
			are = "it has " + strings.Join(k.c.Connectors, ", ")
		}
		return m, d.wrong("name: connectors.oidc of the configuration has no provider of this name that tells of groups "+
			"(%s): configure it first, with --config where no server runs, or leave the document out", are)
	}
	m = groups.Mapping{Connector: d.Name}
	if typed.GroupsClaim != nil {
		m.Claim = *typed.GroupsClaim
	}
	if typed.GroupsMap != nil {
		m.Groups = *typed.GroupsMap
	}
	if err := m.Check(); err != nil {
		return m, d.wrong("%w", err)
	}
	return m, nil
}

func connectorDocOf(m groups.Mapping) connectorDoc { return connectorDoc{&m.Claim, &m.Groups} }

func (k connectorsKind) want(_ context.Context, d Document) (object, error) {
	m, err := k.read(d)
	if err != nil {
		return nil, err
	}
	return objectOf(connectorDocOf(m))
}

func (k connectorsKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	m, err := k.c.Store.GroupMapping(ctx, d.Name)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, was, nil
	}
	if err != nil {
		return nil, was, err
	}
	o, err := objectOf(connectorDocOf(m))
	return o, was, err
}

func (k connectorsKind) make(ctx context.Context, d Document, is *service.Declared) (map[string]string, error) {
	return nil, k.change(ctx, d, is, nil)
}

func (k connectorsKind) change(ctx context.Context, d Document, _ *service.Declared, _ []string) error {
	m, err := k.read(d)
	if err != nil {
		return err
	}
	_, err = k.c.Groups.SetMapping(ctx, k.c.By, m)
	return err
}

func (k connectorsKind) remove(ctx context.Context, was service.Declared) error {
	return k.c.Groups.RemoveMapping(ctx, k.c.By, was.Name)
}

// all leaves out connectors that are not configured: their documents would be refused.
func (k connectorsKind) all(ctx context.Context) (docs []Document, err error) {
	all, err := pages(func(from string) ([]groups.Mapping, string, error) {
		return k.c.Store.GroupMappings(ctx, from, driver.Page)
	})
	for _, m := range all {
		if !slices.Contains(k.c.Connectors, m.Connector) {
			continue
		}
		d, err := document(kindConnector, m.Connector, connectorDocOf(m))
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, err
}
