package proxies

import (
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
)

// identity are the headers that tell a service who calls.
var identity = []string{gateway.HeaderClient, gateway.HeaderUser, gateway.HeaderScope, gateway.HeaderTier}

// get returns what lies at a path of keys and indices.
func get(t *testing.T, v any, path ...string) any {
	t.Helper()
	for i, step := range path {
		var ok bool
		switch node := v.(type) {
		case map[string]any:
			v, ok = node[step]
		case []any:
			n, err := strconv.Atoi(step)
			if ok = err == nil && n < len(node); ok {
				v = node[n]
			}
		}
		if !ok {
			t.Fatalf("there is no %s", strings.Join(path[:i+1], "."))
		}
	}
	return v
}

func wantAt(t *testing.T, v any, want any, path ...string) {
	t.Helper()
	if got := get(t, v, path...); !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %v, want %v", strings.Join(path, "."), got, want)
	}
}

func TestAddressIsMarkedAsTheReadersToChange(t *testing.T) {
	for _, k := range kinds {
		text := ""
		for _, name := range k.files {
			text += swap(t, name, map[string]string{"8000": "192.0.2.1:1", "8080": "192.0.2.2:2", "9000": "192.0.2.3:3"})
		}
		text = strings.ReplaceAll(text, ", port_value: ", ":")
		for _, address := range []string{"192.0.2.1:1", "192.0.2.2:2", "192.0.2.3:3"} {
			if n := strings.Count(text, address); n != 1 {
				t.Errorf("%s: %d places for %s, want 1", k.name, n, address)
			}
		}
		if strings.Count(text, "CHANGE") < 4 {
			t.Errorf("%s: the product is not marked as the reader's to change", k.name)
		}
	}
}

func TestTraefikAsksBeforeItPassesOn(t *testing.T) {
	static, dynamic := parse(t, "traefik.yml"), parse(t, "traefik-dynamic.yml")
	if file := get(t, static, "providers", "file", "filename").(string); filepath.Base(file) != "traefik-dynamic.yml" {
		t.Errorf("the static half reads %s", file)
	}
	router := get(t, dynamic, "http", "routers", "service")
	wantAt(t, router, "PathPrefix(`/`)", "rule")
	wantAt(t, router, []any{"without-cookie", "keystile", "without-token"}, "middlewares")
	for _, name := range get(t, router, "middlewares").([]any) {
		get(t, dynamic, "http", "middlewares", name.(string))
	}
	for _, name := range get(t, router, "entryPoints").([]any) {
		get(t, static, "entryPoints", name.(string), "address")
	}
	get(t, dynamic, "http", "services", get(t, router, "service").(string), "loadBalancer", "servers", "0", "url")
	wantAt(t, dynamic, "", "http", "middlewares", "without-cookie", "headers", "customRequestHeaders", "Cookie")
	wantAt(t, dynamic, "", "http", "middlewares", "without-token", "headers", "customRequestHeaders", "Authorization")

	ask := get(t, dynamic, "http", "middlewares", "keystile", "forwardAuth").(map[string]any)
	wantAt(t, ask, "false", "trustForwardHeader")
	for _, body := range []string{"forwardBody", "authResponseHeaders", "preserveRequestMethod"} {
		if _, there := ask[body]; there {
			t.Errorf("forwardAuth has %s", body)
		}
	}
	wantAsksFor(t, get(t, ask, "address").(string), "ai")
	if sent := get(t, ask, "authRequestHeaders").([]any); !slices.Contains(sent, "Authorization") ||
		slices.Contains(sent, "Cookie") || slices.ContainsFunc(sent, isIdentity) || slices.ContainsFunc(sent, isSecondCall) {
		t.Errorf("it asks with %v", sent)
	}
}

func isIdentity(name any) bool { return strings.Contains(strings.ToLower(name.(string)), "keystile") }

// isSecondCall tells the headers that say the client's call in the way that is not used.
func isSecondCall(name any) bool { return strings.Contains(strings.ToLower(name.(string)), "original") }

// Traefik deletes what matches from the request, then sets what matches of the answer.
func TestTraefikTakesAwayWhatAClientSaysOfItself(t *testing.T) {
	re := regexp.MustCompile(get(t, parse(t, "traefik-dynamic.yml"), "http", "middlewares", "keystile", "forwardAuth",
		"authResponseHeadersRegex").(string))
	takesAway(t, func(name string) bool { return re.MatchString(http.CanonicalHeaderKey(name)) })
	for _, name := range []string{"Authorization", "Content-Type", "X-Forwarded-For", "X-Forwarded-Host",
		"X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Real-Ip"} {
		if re.MatchString(name) {
			t.Errorf("%s is taken for Keystile's", name)
		}
	}
}

// takesAway checks which headers a file takes away from a client's request.
func takesAway(t *testing.T, does func(name string) bool) {
	t.Helper()
	for _, names := range slices.Concat([][]string{identity, claimed}, folded(slices.Concat(identity, claimed))) {
		for _, name := range names {
			for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
				if !does(spelling) {
					t.Errorf("%s stays as the client sent it", spelling)
				}
			}
		}
	}
	for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key", "Origin", "Traceparent", "User-Agent",
		"X-Api-Key", "X-Own", "X-Request-Id", "X-Requested-With"} {
		if does(name) {
			t.Errorf("%s is taken away", name)
		}
	}
}

func TestEnvoyAsksBeforeItPassesOn(t *testing.T) {
	envoy := parse(t, "envoy.yaml")
	manager := get(t, envoy, "static_resources", "listeners", "0", "filter_chains", "0", "filters", "0", "typed_config")
	wantAt(t, manager, "true", "use_remote_address")
	wantAt(t, manager, "DROP_HEADER", "common_http_protocol_options", "headers_with_underscores_action")
	for i, name := range []string{"header_mutation", "ext_authz", "router"} {
		wantAt(t, manager, "envoy.filters.http."+name, "http_filters", strconv.Itoa(i), "name")
	}
	ask := get(t, manager, "http_filters", "1", "typed_config").(map[string]any)
	wantAt(t, ask, "false", "failure_mode_allow")
	wantAt(t, ask, "ServiceUnavailable", "status_on_error", "code")
	if _, there := ask["with_request_body"]; there {
		t.Error("the body is sent to Keystile")
	}
	for _, pattern := range get(t, ask, "allowed_headers", "patterns").([]any) {
		if name := get(t, pattern, "exact").(string); isIdentity(name) || isSecondCall(name) || name == "cookie" {
			t.Errorf("it asks with the client's %s", name)
		}
	}
	wantAt(t, ask, []any{map[string]any{"prefix": "x-keystile-"}}, "http_service", "authorization_response",
		"allowed_upstream_headers", "patterns")
	for _, client := range []string{"/", "/?product=payment", "/a?b=c&product=payment", "/;x?product=%zz"} {
		wantAsksFor(t, "http://keystile"+get(t, ask, "http_service", "path_prefix").(string)+client, "ai")
	}
	clusters := []any{get(t, ask, "http_service", "server_uri", "cluster"),
		get(t, manager, "route_config", "virtual_hosts", "0", "routes", "0", "route", "cluster")}
	for i, name := range clusters {
		wantAt(t, envoy, name, "static_resources", "clusters", strconv.Itoa(i), "name")
		wantAt(t, envoy, name, "static_resources", "clusters", strconv.Itoa(i), "load_assignment", "cluster_name")
	}
}

// Envoy removes what is named, and what a regular expression matches from its first letter to its last; names are in
// small letters there, and those of HTTP/2, with a colon, are headers like others.
func TestEnvoyTakesAwayWhatAClientSaysOfItself(t *testing.T) {
	mutations := get(t, parse(t, "envoy.yaml"), "static_resources", "listeners", "0", "filter_chains", "0", "filters", "0",
		"typed_config", "http_filters", "0", "typed_config", "mutations", "request_mutations").([]any)
	removes := func(name string) bool {
		return slices.ContainsFunc(mutations, func(m any) bool {
			mutation := m.(map[string]any)
			if _, matches := mutation["remove_on_match"]; matches {
				text := get(t, mutation, "remove_on_match", "key_matcher", "safe_regex", "regex").(string)
				return regexp.MustCompile(`^(?:` + text + `)$`).MatchString(strings.ToLower(name))
			}
			return mutation["remove"] == strings.ToLower(name)
		})
	}
	takesAway(t, removes)
	for name, want := range map[string]bool{
		"cookie": true, "x-real-ip": true, ":method": false, ":path": false, ":authority": false, ":scheme": false,
		":protocol": false, "authorization": false,
		"x-forwarded-for": false, "x-forwarded-proto": false, "x-envoy-external-address": false,
	} {
		if removes(name) != want {
			t.Errorf("%s is taken away: %t, want %t", name, !want, want)
		}
	}
	routes := get(t, parse(t, "envoy.yaml"), "static_resources", "listeners", "0", "filter_chains", "0", "filters", "0",
		"typed_config", "route_config", "virtual_hosts", "0", "routes")
	if off := get(t, routes, "0", "request_headers_to_remove").([]any); !slices.Contains(off, "authorization") {
		t.Errorf("the service gets the caller's token: %v is taken off", off)
	}
	for name, value := range map[string]string{"x-forwarded-method": "%REQ(:METHOD)%", "x-forwarded-uri": "%REQ(:PATH)%"} {
		want := map[string]any{"append": map[string]any{"header": map[string]any{"key": name, "value": value},
			"append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}}
		if !slices.ContainsFunc(mutations, func(m any) bool { return reflect.DeepEqual(m, want) }) {
			t.Errorf("%s is not set to the client's own", name)
		}
	}
}

// wantAsksFor checks an address as the gateway reads it.
func wantAsksFor(t *testing.T, address, product string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Query().Get("product"); u.Path != "/api/v1/verify" || got != product {
		t.Errorf("%s asks at %s for %q, want /api/v1/verify for %q", address, u.Path, got, product)
	}
}
