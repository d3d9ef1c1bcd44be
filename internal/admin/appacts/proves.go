package appacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// Proves says how changes by what an application proves itself, and what it may do by that. A nil field stays as it is.
type Proves struct {
	Keys       *string // a JSON Web Key Set, in place of the keys that it has or their address; "": none
	KeysURL    *string // the address of one, likewise
	KeepSecret *bool   // its appkey goes on beside the keys

	Exchange    *bool
	ExchangeFor []string // the client_ids of those that may exchange its tokens, instead; none of them: nobody
}

// apply writes a change into an application.
func (p Proves) apply(app *storage.App) error {
	set(&app.Exchange, p.Exchange)
	if p.ExchangeFor != nil {
		app.ExchangeFor = slices.Clone(p.ExchangeFor)
	}
	keys := client.Keys{}
	if app.Keys != nil {
		keys = *app.Keys.Clone()
	}
	set(&keys.KeepSecret, p.KeepSecret)
	if p.Keys != nil && *p.Keys != "" && p.KeysURL != nil && *p.KeysURL != "" {
		return wrong("jwks and jwks_uri: give one of them")
	}
	if p.Keys != nil {
		keys.Set, keys.URL = nil, ""
		if *p.Keys != "" {
			text, err := publicKeys([]byte(*p.Keys))
			if err != nil {
				return err
			}
			keys.Set = text
		}
	}
	if p.KeysURL != nil && (*p.KeysURL != "" || p.Keys == nil) {
		if keys.Set, keys.URL = nil, *p.KeysURL; keys.URL != "" {
			if err := checkKeysURL(keys.URL); err != nil {
				return err
			}
		}
	}
	switch none := len(keys.Set) == 0 && keys.URL == ""; {
	case none && p.KeepSecret != nil && *p.KeepSecret:
		return wrong("keep_secret: it is for an application with jwks or jwks_uri")
	case none:
		app.Keys = nil
	default:
		app.Keys = &keys
	}
	return nil
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{storage.ErrInvalid}, args...)...)
}

// publicKeys returns a key set as it is stored. One with a private key is refused: who sends it has mixed up the two.
func publicKeys(text []byte) ([]byte, error) {
	if len(text) > client.MaxKeys {
		return nil, wrong("jwks: at most %d bytes", client.MaxKeys)
	}
	var all struct {
		Keys []map[string]json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &all); err != nil || all.Keys == nil {
		return nil, wrong(`jwks: it is no JSON Web Key Set, such as {"keys": [...]}`)
	}
	for _, k := range all.Keys {
		if k["d"] != nil || k["k"] != nil {
			return nil, wrong("jwks: there is a private key in it: keep that, and give the public one")
		}
	}
	if _, err := token.ReadKeySet(text); err != nil {
		return nil, wrong("jwks: there is no key for RS256, PS256, ES256 or EdDSA")
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	return compact.Bytes(), err
}

// checkKeysURL checks the address of keys. Whether it may be read is seen when it is.
func checkKeysURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || len(text) > 2048 {
		return wrong("jwks_uri: give an https address, of at most 2048 bytes")
	}
	return nil
}

// known refuses applications that are not there: a name that is free may become another one's.
func (a *Acts) known(ctx context.Context, p Proves) error {
	for _, id := range p.ExchangeFor {
		_, err := a.c.Store.App(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return wrong("exchange_for: there is no application %q: give a client_id", id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
