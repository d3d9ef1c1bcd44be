package mcpcall

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage"
)

// Upstream is an MCP endpoint, and the credential for it.
type Upstream struct {
	URL      string         // http or https; its query is kept
	Member   string         // the capability, whose name stands before those of its tools
	AuthType string         // none or "", bearer, basic, api_key
	AuthIn   string         // of api_key: header or query
	AuthName string         // of api_key: the header's or the parameter's name
	Secret   storage.Secret // the token, user:password, or the key
}

// Check reports everything that keeps requests from being sent, for registration. It
// repeats neither the URL nor the secret.
func (u Upstream) Check() error {
	return restcall.Upstream{BaseURL: u.URL, AuthType: u.AuthType, AuthIn: u.AuthIn, AuthName: u.AuthName, Secret: u.Secret}.Check()
}

// target is an Upstream that was checked. It holds the secret.
type target struct {
	key          [sha256.Size]byte // of the URL and the credential
	url          url.URL
	header, text string // the header that carries the credential, if one does
	hide         []string
}

func (u Upstream) target() (*target, error) {
	if err := u.Check(); err != nil {
		return nil, err
	}
	to, err := netguard.CheckURL(u.URL)
	if err != nil {
		return nil, err
	}
	secret := u.Secret.Reveal()
	t := &target{url: *to}
	switch {
	case u.AuthType == "bearer":
		t.header, t.text = "Authorization", "Bearer "+secret
	case u.AuthType == "basic":
		t.header, t.text = "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(secret))
	case u.AuthType == "api_key" && u.AuthIn == "header":
		t.header, t.text = http.CanonicalHeaderKey(u.AuthName), secret
	case u.AuthType == "api_key":
		t.url.RawQuery = withKey(t.url.RawQuery, u.AuthName, secret)
	default:
		secret = ""
	}
	named, _ := json.Marshal([]string{u.URL, u.AuthType, u.AuthIn, u.AuthName, secret}) // strings can not fail
	t.key = sha256.Sum256(named)
	t.hide = spellings(secret, t.text)
	return t, nil
}

// withKey sets a parameter of a query and leaves the text of the others as it is.
func withKey(query, name, secret string) string {
	pairs := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		plain, _ := url.QueryUnescape(key)
		return pair == "" || plain == name
	})
	return strings.Join(append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(secret)), "&")
}

// minHidden is the length from which a secret is looked for in answers. A shorter one
// would be found by chance, and would then show by what is missing.
const minHidden = 8

// spellings returns how a secret may come back from an upstream that echoes its request.
func spellings(secret, header string) (out []string) {
	_, sent, _ := strings.Cut(header, " ")
	_, password, _ := strings.Cut(secret, ":")
	form := url.QueryEscape(secret)
	quoted, _ := json.Marshal(secret)
	texts := []string{secret, sent, form, strings.ReplaceAll(form, "+", "%20"), strings.Trim(string(quoted), `"`)}
	if strings.HasPrefix(header, "Basic ") {
		texts = append(texts, password)
	}
	for _, text := range texts {
		if len(text) >= minHidden && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	// Longest first: one spelling may stand within another.
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// blot removes the secret from a text that repeats it.
func (t *target) blot(text []byte) []byte {
	for _, secret := range t.hide {
		if bytes.Contains(text, []byte(secret)) {
			text = bytes.ReplaceAll(text, []byte(secret), []byte("[secret]"))
		}
	}
	return text
}

// place is what may be, or hold, an address: a URL, or a run of what addresses are made of.
var place = regexp.MustCompile(`(?i)https?://[^\s"'<>]+|[0-9a-f:.]*[:.][0-9a-f:.]*[0-9a-f]`)

// neutral returns a text of the upstream as a part of our own: short, one line, and
// without addresses, its own or such as it reaches itself.
func (t *target) neutral(text string) string {
	own := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(t.url.Host) + `|` + regexp.QuoteMeta(t.url.Hostname()))
	text = own.ReplaceAllString(toolschema.Text(text), "[address]")
	text = place.ReplaceAllStringFunc(text, func(s string) string {
		if strings.Contains(s, "://") || address(s) || address(strings.Trim(s, ".:")) {
			return "[address]"
		}
		return s
	})
	if runes := []rune(text); len(runes) > maxNeutral {
		text = string(runes[:maxNeutral]) + "..."
	}
	return text
}

func address(s string) bool {
	_, err := netip.ParseAddr(s)
	_, portErr := netip.ParseAddrPort(s)
	return err == nil || portErr == nil
}

// maxNeutral bounds what is repeated of an upstream's own words, in characters.
const maxNeutral = 300
