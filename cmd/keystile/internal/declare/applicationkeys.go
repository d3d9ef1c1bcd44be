package declare

import (
	"encoding/json"
	"slices"

	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
)

// keysDoc says by what an application proves itself, and which tokens it may exchange.
type keysDoc struct {
	Keys        json.RawMessage `json:"jwks,omitempty"` // {}: none
	KeysURI     *string         `json:"jwks_uri,omitempty"`
	KeepSecret  *bool           `json:"keep_secret,omitempty"`
	Exchange    *bool           `json:"exchange,omitempty"`
	ExchangeFor *[]string       `json:"exchange_for,omitempty"`
}

// keysDocOf returns what a document would say of an application that is stored.
func keysDocOf(app storage.App) keysDoc {
	d := keysDoc{Keys: json.RawMessage("{}"), KeysURI: new(""), KeepSecret: new(false), Exchange: &app.Exchange,
		ExchangeFor: new(append([]string{}, slices.Sorted(slices.Values(app.ExchangeFor))...))}
	if k := app.Keys; k != nil {
		if len(k.Set) > 0 {
			d.Keys = inOrder(k.Set)
		}
		d.KeysURI, d.KeepSecret = &k.URL, &k.KeepSecret
	}
	return d
}

// inOrder returns an object with its members in one order, in which two can be compared.
func inOrder(text json.RawMessage) json.RawMessage {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return text
	}
	ordered, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return ordered
}

// changes returns what a document says, as acts take it.
func (d keysDoc) changes() appacts.Proves {
	p := appacts.Proves{KeysURL: d.KeysURI, KeepSecret: d.KeepSecret, Exchange: d.Exchange,
		ExchangeFor: deref(d.ExchangeFor)}
	switch {
	case d.Keys == nil:
	case string(d.Keys) == "{}":
		p.Keys = new("")
	default:
		p.Keys = new(string(d.Keys))
	}
	return p
}
