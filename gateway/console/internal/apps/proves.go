package apps

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// proves shows by what an application proves itself, and which tokens it may exchange.
type proves struct {
	Keys        json.RawMessage `json:"jwks"`     // null: none, or at an address
	KeysURL     string          `json:"jwks_uri"` // "": none, or jwks
	KeepSecret  bool            `json:"keep_secret"`
	Exchange    bool            `json:"exchange"`
	ExchangeFor []string        `json:"exchange_for"`
}

// provesFields are those that administrators alone change (decision 124).
var provesFields = []string{"jwks", "jwks_uri", "keep_secret", "exchange", "exchange_for"}

func provesOf(a storage.App) proves {
	v := proves{Exchange: a.Exchange, ExchangeFor: append([]string{}, a.ExchangeFor...)}
	if k := a.Keys; k != nil {
		v.Keys, v.KeysURL, v.KeepSecret = k.Set, k.URL, k.KeepSecret
	}
	return v
}

// KeysText returns the keys as a form has them: themselves, their address, or "".
func (v proves) KeysText() string {
	if v.KeysURL != "" {
		return v.KeysURL
	}
	return string(v.Keys)
}

// provesForm has the fields of the form of keys and exchanges.
var provesForm = map[string]ui.Kind{"jwks": ui.Text, "keep_secret": ui.Bool, "exchange": ui.Bool,
	"exchange_for": ui.Lines}

// typedKeys has an action take the keys of a form, which are a text: a set, its address, or nothing.
func typedKeys(do ui.Action) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		f, err := adminapi.ReadFields(w, r, provesFields...)
		if err != nil {
			return nil, err
		}
		var typed string
		if err := f.Read("jwks", "a text", &typed); err != nil {
			return nil, err
		}
		f = maps.Clone(f)
		switch typed = strings.TrimSpace(typed); {
		case strings.HasPrefix(typed, "https://"), strings.HasPrefix(typed, "http://"):
			delete(f, "jwks")
			address, err := json.Marshal(typed)
			if err != nil {
				return nil, err
			}
			f["jwks_uri"] = address
		case typed == "":
			f["jwks"] = json.RawMessage("null")
		case !json.Valid([]byte(typed)):
			return nil, adminapi.BadBody.Saying("jwks is not JSON, and no address that begins with https://")
		default:
			f["jwks"] = json.RawMessage(typed)
		}
		return do(w, adminapi.WithFields(r, f), who)
	}
}
