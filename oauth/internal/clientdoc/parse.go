package clientdoc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/oauth/internal/clientname"
	"github.com/keystile/keystile/storage/client"
)

// Document holds the members of a client metadata document that count here.
type Document struct {
	Name     string // as claimed, cleaned; the host if there is none
	Client   client.Description
	Lifetime time.Duration // how long it stays fresh
	Ignored  []error       // why redirect_uris were left out
}

const maxRedirects = 50

// Bounds of a document's form: real ones are flat but for jwks.
var bounds = rawjson.Limits{Depth: 6, Once: true, Members: 100}

// GrantTypes returns the grant_types that applications may have which nobody registered.
func GrantTypes() []string {
	return []string{"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"}
}

// members are those of a document by their exact names.
type members map[string]json.RawMessage

// Parse reads the document of a client_id. Its errors are a *Problem.
func (f *Fetcher) Parse(id string, body []byte) (Document, error) {
	var d Document
	body = bytes.TrimSpace(body)
	if err := rawjson.Check(body, bounds); err != nil {
		return d, wrong("its document is not JSON of one reading: its members %v", err)
	}
	if body[0] != '{' {
		return d, wrong("its document is no JSON object")
	}
	m := members{}
	for name, value := range rawjson.Members(body) {
		m[string(name)] = value
	}
	d.Client.Kind = client.Document
	for _, read := range []func(m members, id string, d *Document) error{checkIdentity, readGrants, readRedirects,
		f.readAuthMethod, readName} {
		if err := read(m, id, &d); err != nil {
			return Document{}, err
		}
	}
	return d, nil
}

func (m members) text(name string) (text string, err error) {
	if raw, there := m[name]; there && json.Unmarshal(raw, &text) != nil {
		return "", wrong("%s in its document is not a string", name)
	}
	return text, nil
}

func (m members) texts(name string) (texts []string, err error) {
	var all []*string // null would pass for ""
	raw, there := m[name]
	if !there {
		return nil, nil
	}
	if json.Unmarshal(raw, &all) != nil || slices.Contains(all, nil) {
		return nil, wrong("%s in its document is not an array of strings", name)
	}
	texts = []string{} // there, if empty
	for _, text := range all {
		texts = append(texts, *text)
	}
	return texts, nil
}

// checkIdentity checks that the document is about the client_id, byte for byte, and holds no secret.
func checkIdentity(m members, id string, _ *Document) error {
	named, err := m.text("client_id")
	switch {
	case err != nil:
		return err
	case named != id:
		return wrong("client_id in its document is not the URL of the document")
	}
	for name := range m {
		if strings.HasPrefix(strings.ToLower(name), "client_secret") {
			return wrong("its document holds a %.30s, which everybody can read", name)
		}
	}
	return nil
}

// readGrants keeps what we have of grant_types and response_types.
func readGrants(m members, _ string, d *Document) error {
	grants, err := m.texts("grant_types")
	if err != nil {
		return err
	}
	if grants == nil {
		grants = []string{"authorization_code", "refresh_token"}
	}
	for _, grant := range GrantTypes() {
		if slices.Contains(grants, grant) {
			d.Client.Grants = append(d.Client.Grants, grant)
		}
	}
	if !slices.ContainsFunc(d.Client.Grants, func(grant string) bool { return grant != "refresh_token" }) {
		return wrong("grant_types in its document has none of those that are here, such as authorization_code")
	}
	types, err := m.texts("response_types")
	switch {
	case err != nil:
		return err
	case types != nil && !slices.Contains(types, "code") && slices.Contains(d.Client.Grants, "authorization_code"):
		return wrong("response_types in its document is without code, the only one that is here")
	}
	return nil
}

// readRedirects keeps the redirect_uris to which a browser may be sent: one that is refused does not
// refuse the others.
func readRedirects(m members, _ string, d *Document) error {
	uris, err := m.texts("redirect_uris")
	switch {
	case err != nil:
		return err
	case len(uris) == 0 && !slices.Contains(d.Client.Grants, "authorization_code"):
		return nil // the device grant leads nowhere
	case len(uris) == 0:
		return wrong("its document has no redirect_uris")
	case len(uris) > maxRedirects:
		return wrong("its document has more than %d redirect_uris", maxRedirects)
	}
	for _, uri := range uris {
		if err := client.CheckRedirect(uri); err != nil {
			d.Ignored = append(d.Ignored, err)
		} else if !slices.Contains(d.Client.RedirectURIs, uri) {
			d.Client.RedirectURIs = append(d.Client.RedirectURIs, uri)
		}
	}
	if len(d.Client.RedirectURIs) == 0 {
		return wrong("none of the redirect_uris in its document is allowed: %v", d.Ignored[0])
	}
	return nil
}

// readAuthMethod chooses how the application authenticates: as it prefers, else as it can.
func (f *Fetcher) readAuthMethod(m members, _ string, d *Document) error {
	preferred, err := m.text("token_endpoint_auth_method")
	if err != nil {
		return err
	}
	others, err := m.texts("token_endpoint_auth_methods_supported")
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(preferred, "client_secret"):
		return wrong("token_endpoint_auth_method in its document needs a secret, and there is none")
	case preferred == "" && len(others) == 0:
		preferred = client.AuthNone
	}
	for _, method := range append([]string{preferred}, others...) {
		if method == client.AuthNone || method == client.AuthPrivateKeyJWT {
			d.Client.AuthMethod = method
			return f.readKeys(m, d)
		}
	}
	return wrong("token_endpoint_auth_method in its document is neither none nor private_key_jwt")
}

// readKeys reads jwks or jwks_uri. They are checked also where they are not used: a document that shows
// a private key is wrong.
func (f *Fetcher) readKeys(m members, d *Document) error {
	address, err := m.text("jwks_uri")
	if err != nil {
		return err
	}
	inline, there := m["jwks"]
	if there && address != "" {
		return wrong("its document has both jwks and jwks_uri: which of them counts?")
	}
	var keys []byte
	if there {
		if keys, err = parseKeys(inline); err != nil {
			return err
		}
	}
	if address != "" {
		if _, err := f.checkURL(address); err != nil {
			return wrong("jwks_uri in its document: %v", err)
		}
	}
	if d.Client.AuthMethod != client.AuthPrivateKeyJWT {
		return nil
	}
	if !there && address == "" {
		return wrong("private_key_jwt in its document needs jwks or jwks_uri")
	}
	d.Client.Keys, d.Client.KeysURL = keys, address
	return nil
}

func readName(m members, id string, d *Document) error {
	claimed, err := m.text("client_name")
	if err != nil {
		return err
	}
	if d.Name = clientname.Clean(claimed); d.Name == "" {
		host, _, _ := strings.Cut(strings.TrimPrefix(id, client.DocumentPrefix), "/")
		d.Name = host
	}
	return nil
}
