package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/lasthop"
)

func TestProductsAreObjectsOrAShortForm(t *testing.T) {
	full := Product{Name: "ai", Prefix: "/v1/ai", Upstream: "http://127.0.0.1:9000/v1",
		Identity: lasthop.Identity{Kind: lasthop.Bearer}, Timeout: 90 * time.Second, Pace: 0.5, UploadRate: 1024}
	short := Product{Name: "ai", Prefix: "/ai", Upstream: "http://127.0.0.1:9000/v1", Strip: true}
	for _, c := range []struct {
		name, file, env string
		want            []Product
	}{
		{"objects", "gateway:\n  products:\n    - name: ai\n      prefix: /v1/ai\n      upstream: " +
			"http://127.0.0.1:9000/v1\n      strip_prefix: false\n      identity: bearer\n      timeout: 90s\n      " +
			"pace: 0.5\n      upload_rate: 1024\n    - {name: search}\n", "",
			[]Product{full, {Name: "search", Strip: true}}},
		{"defaults", "gateway.products: [{name: ai, upstream: 'http://127.0.0.1:9000/v1', identity: headers, strip_prefix: " +
			"true}]", "", []Product{{Name: "ai", Prefix: "/ai", Upstream: "http://127.0.0.1:9000/v1", Strip: true,
			Identity: lasthop.Identity{Kind: lasthop.Headers}}}},
		{"a signed caller", "gateway.products: [{name: ai, upstream: 'http://127.0.0.1:9000/v1', identity: signed, " +
			"identity_subject: openid, identity_jti: off}]", "", []Product{{Name: "ai", Prefix: "/ai",
			Upstream: "http://127.0.0.1:9000/v1", Strip: true, Identity: lasthop.Identity{Kind: lasthop.Signed,
				Subject: lasthop.OpenID, JTI: lasthop.Off}}}},
		{"JSON", "",
			"[{\"name\":\"ai\",\n\"prefix\":\"/v1/ai\",\"upstream\":\"http://127.0.0.1:9000/v1\",\"strip_prefix\":false,\"identity\":\"bearer\",\"timeout\":\"90s\",\"pace\":0.5,\"upload_rate\":1024}]", []Product{full}},
		{"the short form", "", "ai=http://127.0.0.1:9000/v1, search", []Product{short, {Name: "search", Strip: true}}},
		{"names", "gateway.products: [search, mail]", "", []Product{{Name: "search", Strip: true},
			{Name: "mail", Strip: true}}},
		{"one product at two paths", "gateway.products: [{name: ai, upstream: 'http://a', prefix: /a}, {name: ai, " +
			"upstream: 'http://b', prefix: /a/b}]", "",
			[]Product{{Name: "ai", Prefix: "/a", Upstream: "http://a", Strip: true},
				{Name: "ai", Prefix: "/a/b", Upstream: "http://b", Strip: true}}},
		{"none", "gateway.products: []", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := []string{"KEYSTILE_GATEWAY_PRODUCTS=" + c.env}
			if c.file != "" {
				env = append(env, "KEYSTILE_CONFIG="+write(t, c.file))
			}
			loaded := load(t, env)
			if !reflect.DeepEqual(loaded.Products, c.want) {
				t.Errorf("read %+v, want %+v", loaded.Products, c.want)
			}
			var out strings.Builder
			if err := loaded.Print(&out); err != nil {
				t.Fatal(err)
			}
			if again := load(t, []string{"KEYSTILE_CONFIG=" + write(t, out.String())}); !reflect.DeepEqual(again.Products,
				c.want) {
				t.Errorf("printed, and read as %+v: %s", again.Products, out.String())
			}
		})
	}
}

func TestProductThatMakesNoSenseIsAComplaintThatSaysWhy(t *testing.T) {
	for list, want := range map[string]string{
		`[{"name":"ai","upstrem":"http://a"}]`:                                                 `unknown field "upstrem"; the nearest known one is "upstream"`,
		`[{"name":"ai","upstream":"http://a","strip_prefx":true}]`:                             `"strip_prefix"`,
		`[{"name":"ai","upstream":"http://a","identity":"jwt"}]`:                               "headers, bearer, signed, none",
		`[{"name":"ai","upstream":"http://a","identity":"headers","identity_jti":"off"}]`:      "are for identity signed",
		`[{"name":"ai","upstream":"http://a","identity":"signed","identity_subject":"email"}]`: "sub, openid",
		`[{"upstream":"http://a"}]`:                                                            "has a name",
		`[{"name":"AI"}]`:                                                                      "no name of a product",
		`[{"name":"mcp","upstream":"http://a"}]`:                                               "choose another name",
		`[{"name":"oauth","upstream":"http://a"}]`:                                             "choose another prefix",
		`[{"name":"a","prefix":"/api/v1","upstream":"http://a"}]`:                              "choose another prefix",
		`[{"name":"a","prefix":"/x/","upstream":"http://a"}]`:                                  "without a slash",
		`[{"name":"a","prefix":"/","upstream":"http://a"}]`:                                    "without a slash",
		`[{"name":"a","prefix":"/x/../y","upstream":"http://a"}]`:                              "a path such as",
		`[{"name":"a","prefix":"/%61","upstream":"http://a"}]`:                                 "a path such as",
		`[{"name":"a","prefix":"x","upstream":"http://a"}]`:                                    "a path such as",
		`[{"name":"a","upstream":"127.0.0.1:9000"}]`:                                           "a URL such as",
		`[{"name":"a","upstream":"http://u:p@a"}]`:                                             "a URL such as",
		`[{"name":"a","upstream":"http://a?x"}]`:                                               "a URL such as",
		`[{"name":"a","upstream":"http://a","strip_prefix":"no"}]`:                             "true or false",
		`[{"name":"a","upstream":"http://a","identity":"token"}]`:                              "headers, bearer",
		`[{"name":"a","upstream":"http://a","timeout":60}]`:                                    "a unit",
		`[{"name":"a","upstream":"http://a","pace":0}]`:                                        "above 0",
		`[{"name":"a","upstream":"http://a","pace":"NaN"}]`:                                    "above 0",
		`[{"name":"a","upstream":"http://a","upload_rate":0}]`:                                 "from 1",
		`[{"name":"a","pace":1}]`:                                                              "no upstream",
		`[{"name":["a"]}]`:                                                                     "a plain value",
		`[{"name":"a","name":"b"}]`:                                                            "a list of objects",
		`["a",{"name":"b"}]`:                                                                   "a list of objects",
		`{"name":"a"}`:                                                                         "a list of objects",
		`[{"name":"a"`:                                                                         "a list of objects",
		`a=http://a,a=http://b`:                                                                "there twice",
		`a,a`:                                                                                  "there twice",
		`a=http://a,a`:                                                                         "there twice",
		`[{"name":"a","prefix":"/x","upstream":"http://a"},{"name":"b","prefix":"/x","upstream":"http://a"}]`: "there twice",
	} {
		wantComplaint(t, []string{"KEYSTILE_GATEWAY_PRODUCTS=" + list}, "", want)
	}
	wantComplaint(t, nil, "gateway:\n  products:\n    - name: ai\n      upstrem: http://a\n", `keystile.yaml:2`)
	wantComplaint(t, nil, "gateway:\n  products:\n    - {name: ai, name: b}\n", "a list of objects is wanted")
	wantComplaint(t, nil, "gateway:\n  products: {ai: 'http://a'}\n", "gateway.products: ai=http")
}
