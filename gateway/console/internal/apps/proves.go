package apps

import (
	"encoding/json"

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
