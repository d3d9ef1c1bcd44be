package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/storage/lasthop"
)

// Product names what calls are charged to, and the service behind the gateway that they go to.
type Product struct {
	Name       string
	Prefix     string // of the paths that are the service's, such as /ai
	Upstream   string // URL of the service; "": it asks at /api/v1/verify itself
	Strip      bool   // the prefix is taken off
	Identity   lasthop.Identity
	Timeout    time.Duration // 0: that of the gateway
	Pace       float64       // calls a second; 0: none
	UploadRate int           // bytes a second that a caller's body has to come at; 0: that of the gateway
}

var productName = pattern.Lazy(`^[a-z][a-z0-9_-]{0,31}$`)

// Names and first segments of paths that have a meaning here already.
var (
	takenPaths = []string{"oauth", "api", "demo", "healthz", "openapi.json", "fake-providers", "connect", "connect.php",
		"check_token", "check_token.php", ".well-known"}
	takenNames = []string{"identity", "mcp"}
)

// setProducts reads a list of objects, as YAML or JSON has it, or the short form for a command
// line: names, and name=URL, separated by commas.
func (c *Config) setProducts(s string) error {
	list, err := objects(s)
	if err != nil {
		return err
	}
	for _, o := range list {
		p, err := o.product()
		if err != nil {
			return err
		}
		for _, q := range c.Products {
			if p.Upstream != "" && q.Upstream != "" && p.Prefix == q.Prefix {
				return fmt.Errorf("the prefix %q is there twice; keep one", p.Prefix)
			}
			if p.Name == q.Name && (p.Upstream == "" || q.Upstream == "") {
				return fmt.Errorf("the product %q is there twice; keep one", p.Name)
			}
		}
		c.Products = append(c.Products, p)
	}
	return nil
}

// object is one of a list, its fields as text.
type object map[string]string

// objects reads a list of objects. Fields that are themselves an object, by their names, are JSON.
func objects(s string, nested ...string) (list []object, err error) {
	if !isList(s) {
		for _, word := range words(s) {
			name, target, proxied := strings.Cut(word, "=")
			o := object{"name": name}
			if proxied {
				o["upstream"] = target
			}
			list = append(list, o)
		}
		return list, nil
	}
	var nodes []map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(s), &nodes); err != nil {
		return nil, errors.New("it must be a list of objects, each with a name")
	}
	for _, fields := range nodes {
		o := object{}
		for name, n := range fields {
			if n.Kind == yaml.MappingNode && slices.Contains(nested, name) {
				if o[name], err = asJSON(n); err != nil {
					return nil, fmt.Errorf("%q: %w", name, err)
				}
				continue
			}
			if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
				return nil, fmt.Errorf("%q is a plain value", name)
			}
			o[name] = n.Value
		}
		list = append(list, o)
	}
	return list, nil
}

// asJSON writes an object of texts as JSON.
func asJSON(n yaml.Node) (string, error) {
	texts := map[string]string{}
	if n.Decode(&texts) != nil {
		return "", errors.New("it must be an object of texts")
	}
	text, err := json.Marshal(texts)
	return string(text), err
}

func isList(s string) bool { return strings.HasPrefix(s, "[") || strings.HasPrefix(s, "{") }

// oneLine is a list as JSON, which is YAML too; any other text is left as it is.
func oneLine(s string) string {
	var list []map[string]any
	if !isList(s) || yaml.Unmarshal([]byte(s), &list) != nil {
		return s
	}
	text, err := json.Marshal(list)
	if err != nil {
		return s
	}
	return string(text)
}

// fields returns the members that a product may have, in the order of the README.
func (p *Product) fields() []field {
	return []field{
		{"name", func(s string) error {
			if p.Name = s; !productName().MatchString(s) {
				return fmt.Errorf("%q is no name of a product: 1 to 32 of a-z, 0-9, _ and -, the first a letter", s)
			}
			return nil
		}},
		{"prefix", p.setPrefix}, {"upstream", p.setUpstream}, {"strip_prefix", boolean(&p.Strip)},
		{"identity", choice(&p.Identity.Kind, lasthop.Headers, lasthop.Bearer, lasthop.Signed, lasthop.None)},
		{"identity_subject", choice(&p.Identity.Subject, lasthop.Sub, lasthop.OpenID)},
		{"identity_jti", choice(&p.Identity.JTI, lasthop.On, lasthop.Off)},
		{"timeout", duration(&p.Timeout)},
		{"pace", func(s string) (err error) {
			if p.Pace, err = strconv.ParseFloat(s, 64); err != nil || !(p.Pace > 0 && p.Pace <= 1e9) {
				return errors.New("it must be a number of calls a second, above 0")
			}
			return nil
		}},
		{"upload_rate", count(&p.UploadRate)},
	}
}

// field is a member that an object may have.
type field struct {
	name string
	set  func(string) error
}

// read sets the members of an object, which is called what in complaints.
func (o object) read(what string, fields []field) error {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
		if text, given := o[f.name]; given {
			if err := f.set(text); err != nil {
				return fmt.Errorf("%s of %q: %w", f.name, what, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q has an unknown field %q%s", what, name, cli.Hint("; the nearest known one is %q", name, names))
		}
	}
	return nil
}

func (o object) product() (Product, error) {
	p := Product{Strip: true}
	if err := cmp.Or(o.read(o["name"], p.fields()), p.Identity.Check()); err != nil {
		return p, err
	}
	if p.Name == "" {
		return p, errors.New("each product has a name")
	}
	if p.Upstream == "" {
		if len(o) > 1 {
			return p, fmt.Errorf("%q has no upstream, so it can have a name and nothing else", p.Name)
		}
		return p, nil
	}
	if slices.Contains(takenNames, p.Name) {
		return p, fmt.Errorf("%q is charged here already; choose another name", p.Name)
	}
	if p.Prefix == "" {
		p.Prefix = "/" + p.Name
	}
	if first, _, _ := strings.Cut(p.Prefix[1:], "/"); slices.Contains(takenPaths, first) {
		return p, fmt.Errorf("%q is answered here already; choose another prefix", p.Prefix)
	}
	return p, nil
}

func (p *Product) setPrefix(s string) error {
	if p.Prefix = s; len(s) < 2 || s[0] != '/' || path.Clean(s) != s || strings.ContainsAny(s, "%?#\\; ") {
		return errors.New("it must be a path such as /ai, without a slash at its end")
	}
	return nil
}

func (p *Product) setUpstream(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return errors.New("it must be a URL such as http://127.0.0.1:9000/v1, without user, query and fragment")
	}
	p.Upstream = s
	return nil
}
