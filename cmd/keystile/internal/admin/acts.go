package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/admin/serviceacts"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// tools returns the acts on what surrounds capabilities.
func (r Target) tools() *toolacts.Acts {
	return toolacts.New(toolacts.Config{Store: r.Store, Recorder: r.Recorder, Reload: r.Reload})
}

// service returns the acts on the service.
func (r Target) service() *serviceacts.Acts {
	return serviceacts.New(serviceacts.Config{Store: r.Store, Keys: r, Webhook: r.Store, Issuers: r.Store,
		Recorder: r.Recorder, Reload: r.Reload})
}

// unknown says what was not found, and where it would be listed.
func unknown(m *toolacts.Missing) error {
	if m.Kind == "tool" {
		return cli.Usage("%v: see keystile capability show %s", m, m.Of)
	}
	list := map[string]string{"application": "app", "bundle": "capability bundle"}[m.Kind]
	if list == "" {
		list = m.Kind
	}
	return fmt.Errorf("%v; list them with: keystile %s list", m, list)
}

// SigningKeys returns the keys that sign tokens.
func (r Target) SigningKeys(ctx context.Context) ([]storage.SigningKey, error) {
	return r.Store.SigningKeys(ctx)
}

// RotateKey signs with the next key of an algorithm from now on.
func (r Target) RotateKey(ctx context.Context, alg string) (storage.SigningKey, error) {
	k, err := token.Rotate(ctx, r.Store, alg, r.Signed+token.Skew)
	if err != nil {
		return k, err
	}
	return k, r.reload(ctx)
}

// RetireKey withdraws a retired key at once.
func (r Target) RetireKey(ctx context.Context, kid string) error {
	if err := token.Retire(ctx, r.Store, kid, time.Now()); err != nil {
		return err
	}
	return r.reload(ctx)
}
