package console

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// allParts returns the parts of a console that has everything it can have.
func allParts() []ui.Part {
	return (&Console{c: Config{Registry: noRegistry{}, Bus: noBus{}, Revoker: noRevoker{}}}).parts()
}

type noRegistry struct{ Registry }

type noBus struct{}

type noRevoker struct{ Revoker }

func (noBus) CallFor(*http.Request, storage.Caller, string, json.RawMessage) (json.RawMessage, error) {
	return nil, storage.ErrNotFound
}
func (noBus) ToolsOf(string) []toolplan.Tool { return nil }
func (noBus) OpenedBySetting() string        { return "" }
func (noBus) Reload(context.Context) error   { return nil }
func (noBus) Unlisted(int) ([]string, int)   { return nil, 0 }
func (noBus) OpenToAll() bool                { return false }
func (noBus) WhyUnlisted(string) string      { return "" }
func (noBus) Explain(context.Context, access.Viewer, string, int) ([]access.Verdict, string, error) {
	return nil, "", nil
}
