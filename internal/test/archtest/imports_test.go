package archtest

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/keystile/keystile"

// topLevel is everything the first look at the repository shows.
var topLevel = []string{
	".ci", ".git", ".github", ".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "assemble.go", "cmd", "doc.go",
	"example_test.go", "examples", "gateway", "go.mod", "go.sum", "internal", "keystile.go", "legacy", "mcpbus", "oauth",
	"registry", "start.go", "storage", "vitals.go",
}

// rooms import storage and internal/* and never each other. The two that have rooms of
// their own inside are named with them.
var rooms = []string{"oauth", "oauth/signin", "gateway", "registry", "mcpbus", "legacy"}

// heavy dependencies have one room each, and YAML two: the configuration file is read with
// its lines and written, documents become JSON. Tests may import those of testOnly too.
var heavy = map[string]string{
	"github.com/ory/fosite":           "oauth/internal/engine",
	"go.etcd.io/bbolt":                "storage/bolt internal/test/campaigns/bench", // the floor of a commit
	"github.com/jackc/pgx/v5":         "storage/postgres internal/test/database",
	"github.com/go-jose/go-jose/v4":   "internal/token",
	"golang.org/x/crypto":             "oauth/signin/passwords",
	"golang.org/x/time":               "gateway",
	"golang.org/x/text/unicode":       "internal/confusable",
	"golang.org/x/net/idna":           "storage/apps",
	"golang.org/x/net/http/httpguts":  "internal/plainhttp", // the names and values that net/http takes
	"golang.org/x/text/encoding":      "internal/restcall/internal/charset",
	"golang.org/x/text/transform":     "internal/restcall/internal/charset",
	"github.com/getkin/kin-openapi":   "registry/lint",
	"github.com/wneessen/go-mail":     "oauth/signin/mailer",
	"go.yaml.in/yaml/v3":              "cmd/keystile/internal/config internal/yamljson",
	"github.com/prometheus":           "cmd/keystile/internal/metrics",
	"rsc.io/qr":                       "oauth/signin/internal/qr",
	"golang.org/x/term":               "cmd/keystile/internal/terminal",
	"github.com/spf13/cobra":          "cmd/keystile/internal/cli",
	"github.com/spf13/pflag":          "cmd/keystile/internal/cli",
	"github.com/coreos/go-oidc/v3":    "oauth/signin/connector/oidc",
	"github.com/go-webauthn/webauthn": "oauth/signin/internal/passkey",
	"github.com/aws/aws-sdk-go-v2":    "gateway/stream/s3",

	// Of OpenTelemetry the library has the interfaces, and the program what sends.
	"go.opentelemetry.io/otel/attribute":   "internal/span storage/oteltrace cmd/keystile/internal/telemetry",
	"go.opentelemetry.io/otel/codes":       "internal/span storage/oteltrace",
	"go.opentelemetry.io/otel/propagation": "internal/span",
	// in a Config
	"go.opentelemetry.io/otel/trace":     "internal/span storage/oteltrace cmd/keystile/internal/telemetry gateway .",
	"go.opentelemetry.io/otel/sdk":       "cmd/keystile/internal/telemetry",
	"go.opentelemetry.io/otel/exporters": "cmd/keystile/internal/telemetry",

	"github.com/chromedp/chromedp": "internal/test/campaigns/browser",
	"github.com/chromedp/cdproto":  "internal/test/campaigns/browser",
	"golang.org/x/net/websocket":   "internal/test/campaigns/browser",
	// for tests alone: see TestProgramLinksNothingForTests
	"github.com/santhosh-tekuri/jsonschema/v6": "internal/test/openapitest",
}

var testOnly = map[string]string{
	"go.opentelemetry.io/otel/attribute": "internal/test/service/gateway mcpbus",
	"go.opentelemetry.io/otel/codes":     "mcpbus",
	"go.opentelemetry.io/otel/trace":     "internal/test/service/gateway mcpbus cmd/keystile/internal",
	// spans in memory
	"go.opentelemetry.io/otel/sdk":   "internal/span storage/oteltrace internal/test/service/gateway mcpbus .",
	"go.opentelemetry.io/proto/otlp": "cmd/keystile/internal/telemetry cmd/keystile/command",
	"google.golang.org/protobuf":     "cmd/keystile/internal/telemetry cmd/keystile/command",
	"golang.org/x/oauth2":            "internal/test/campaigns/peers",
	"golang.org/x/text/encoding":     "internal/restcall",
	"go.yaml.in/yaml/v3":             "examples/cluster examples/deploy",
	"github.com/coreos/go-oidc/v3":   "internal/test/campaigns/peers",
	// whoever is told of a logout verifies it by other code than ours
	"github.com/go-jose/go-jose/v4":            "internal/token oauth cmd/keystile/command",
	"github.com/getkin/kin-openapi":            "internal/test/campaigns/peers internal/test/service/registry registry",
	"github.com/santhosh-tekuri/jsonschema/v6": "registry",
}

// foreign reports whether a path names code of others.
func foreign(path string) bool {
	return strings.Contains(strings.Split(path, "/")[0], ".") && !ours(path)
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// roomOf returns the innermost room a package belongs to, "" if none.
func roomOf(pkg string) string {
	best := ""
	for _, r := range rooms {
		if within(pkg, r) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// records are the packages of what rooms and the store hand to each other.
var records = map[string]bool{
	"storage/access": true, "storage/nodes": true, "storage/event": true, "storage/toolplan": true,
	"storage/client": true, "storage/internal/redirect": true, "storage/internal/find": true, "storage/apikey": true,
	"storage/authn": true, "storage/secret": true, "storage/state": true, "internal/handle": true,
	"storage/claim":           true,
	"storage/lasthop":         true,
	"storage/groups":          true,
	"storage/trust":           true,
	"internal/record/forward": true, "internal/record/idempotency": true, "internal/record/lease": true,
	"internal/record/notify": true, "internal/record/ranking": true, "internal/record/shipping": true,
}

// subjects are the packages that package storage is made of. Others use them by it, but for those among the records.
var subjects = map[string]bool{
	"storage/internal/document": true, "storage/internal/clock": true, "storage/internal/fence": true,
	"storage/people": true, "storage/authn": true, "storage/apps": true, "storage/tools": true,
	"storage/service": true, "storage/groups": true,
}

// counts reports whether a package is of the family that counts: it imports no room, so a host that counts elsewhere
// links none by it.
func counts(pkg string) bool { return within(pkg, "storage/counters") }

// permits says why pkg (relative to the module) may not import path, "" if it may.
func permits(pkg, path string, test bool) string {
	if foreign(path) {
		return permitsForeign(pkg, path, test)
	}
	if !ours(path) {
		return ""
	}
	to := strings.TrimPrefix(path, module+"/")
	switch room := roomOf(pkg); {
	case test || pkg == "internal/test/campaigns/agents": // a test may bring rooms together; what is shipped may not
		return ""
	case pkg == "storage/driver":
		return "storage/driver imports nothing of ours"
	case counts(pkg) && (counts(to) || to == "internal/network" || within(pkg, "storage/counters/redis") &&
		to == "internal/resp"):
		return ""
	case counts(pkg):
		return "what counts imports no more of ours than what it counts by"
	case to == "storage/internal/rowsum" && (pkg == "storage/internal/document" || pkg == "storage/bolt" ||
		pkg == "storage/postgres"):
		return "" // one form of checksum, also in what is copied from one to another
	case pkg == "storage/internal/document" && to == "storage/transfer":
		return "" // the mark of a copy that is not whole
	case (pkg == "storage" || subjects[pkg]) && subjects[to]:
		return "" // the compiler refuses circles
	case (pkg == "storage" || subjects[pkg] || records[pkg]) && to != "storage/driver" && !records[to] &&
		to != "internal/cache" &&
		to != "internal/confusable" && to != "internal/typedcode":
		return "storage and its records import storage/driver only, a cache and how names and codes are read"
	case within(pkg, "storage") && within(to, pkg+"/internal"):
		return "" // a part of one adapter
	case within(pkg, "storage") && pkg != "storage" && !subjects[pkg] && !records[pkg] &&
		!within(pkg, "storage/storagetest") && to != "storage/driver" &&
		(to != "storage/transfer" || pkg == to):
		return "adapters import storage/driver and storage/transfer only"
	case within(pkg, "storage/storagetest") && !within(to, "storage") && to != "internal/handle":
		return "the contract imports storage only, and how handles are drawn"
	case within(pkg, "internal") && roomOf(to) != "":
		return "internal packages import no room"
	case room != "" && to == room:
		return "a room imports its packages, and they not the room"
	case room != "" && !within(to, "storage") && !within(to, "internal") && roomOf(to) != room:
		return "a room imports storage, internal/* and its own packages"
	case within(to, room+"/connector/fake") && room != "":
		return "only cmd and tests bring in the fake providers"
	case room != "" && within(to, "storage") && to != "storage" && to != "storage/driver" && to != "storage/counters" &&
		!records[to]:
		return "a room does not choose its adapter"
	}
	return ""
}

func permitsForeign(pkg, path string, test bool) string {
	for dep, rooms := range heavy {
		if within(path, dep) && slices.Contains(strings.Fields(rooms), pkg) {
			return ""
		}
	}
	for dep, rooms := range testOnly {
		for room := range strings.FieldsSeq(rooms) {
			if test && within(path, dep) && within(pkg, room) {
				return ""
			}
		}
	}
	return "a foreign package has its rooms (see the table heavy)"
}

func TestImportKeepsTheLaw(t *testing.T) {
	packages := goFiles(t)
	if len(packages) < 10 {
		t.Fatalf("only %d packages found: the test looks in the wrong place", len(packages))
	}
	for pkg, names := range packages {
		for _, name := range names {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				if why := permits(pkg, path, strings.HasSuffix(name, "_test.go")); why != "" {
					t.Errorf("%s imports %s: %s", name, path, why)
				}
			}
		}
	}
}

func TestLawRefusesWhatItShould(t *testing.T) {
	for _, c := range []struct {
		pkg, path string
		test, ok  bool
	}{
		{"legacy", module + "/oauth", false, false},
		{"oauth/signin", module + "/oauth", false, false},
		{"oauth", module + "/oauth/signin", false, false},
		{"oauth", module + "/oauth/internal/engine", false, true},
		{"oauth/signin", module + "/oauth/signin/connector", false, true},
		{"oauth/signin/users", module + "/oauth/signin/internal/limits", false, true},
		{"oauth", module + "/oauth/signin/users", false, false},
		{"oauth/signin", module + "/oauth/signin/connector/fake", false, false},
		{"oauth/signin/connector/fake", module + "/oauth/signin/connector", false, true},
		{"oauth", module + "/oauth/signin/connector", false, false},
		{"gateway", module + "/oauth/internal/engine", false, false},
		{"gateway", module + "/storage", false, true},
		{"gateway", module + "/storage/bolt", false, false},
		{"gateway", module + "/storage/memory", true, true},
		{"gateway", module + "/storage/driver", false, true},
		{"gateway", module + "/gateway/billing", false, true},
		{"gateway/billing", module + "/storage/counters", false, true},
		{"gateway/console", module + "/gateway/billing", false, true},
		{"gateway/billing", module + "/gateway", false, false},
		{"gateway/remote", module + "/gateway", false, false},
		{"gateway/stream/s3", module + "/gateway/stream", false, true},
		{"gateway/stream/s3", "github.com/aws/aws-sdk-go-v2/aws/signer/v4", false, true},
		{"gateway/stream", "github.com/aws/aws-sdk-go-v2/aws", false, false},
		{"gateway/remote", module + "/internal/token", false, true},
		{"mcpbus", module + "/gateway/billing", false, false},
		{"legacy", module + "/gateway/billing", false, false},
		{"cmd/keystile/internal/admin", module + "/gateway/billing", false, true},
		{"storage", module + "/internal/token", false, false},
		{"storage", module + "/storage/driver", false, true},
		{"storage/driver", module + "/storage", false, false},
		{"storage", module + "/storage/toolplan", false, true},
		{"storage/access", module + "/storage", false, false},
		{"storage/access", module + "/storage/toolplan", false, true},
		{"storage/bolt", module + "/internal/handle", false, false},
		{"storage/counters", module + "/internal/network", false, true},
		{"storage/counters", module + "/gateway", false, false},
		{"storage/counters", module + "/storage", false, false},
		{"storage/counters/countertest", module + "/storage/counters", false, true},
		{"storage/counters/countertest/planted", module + "/storage/counters/countertest", false, true},
		{"storage/counters/redis", module + "/internal/resp", false, true},
		{"storage/counters/redis", module + "/oauth/signin", false, false},
		{"storage/bolt", module + "/storage/counters", false, false},
		{"gateway", module + "/storage/event", false, true},
		{"storage/bolt", module + "/storage/driver", false, true},
		{"storage/bolt", module + "/storage", false, false},
		{"storage/bolt", module + "/storage/transfer", false, true},
		{"storage/bolt", module + "/storage/bolt/internal/tokenlog", false, true},
		{"storage/postgres", module + "/storage/bolt/internal/tokenlog", false, false},
		{"storage/bolt/internal/tokenlog", module + "/storage/bolt", false, false},
		{"storage/transfer", module + "/storage/driver", false, true},
		{"storage/transfer", module + "/storage/bolt", false, false},
		{"storage", module + "/storage/transfer", false, false},
		{"storage/internal/document", module + "/storage/transfer", false, true},
		{"storage/people", module + "/storage/tools", false, true},
		{"storage/people", module + "/storage", false, false},
		{"gateway", module + "/storage/people", false, false},
		{"storage/bolt", module + "/storage/internal/rowsum", false, true},
		{"storage/memory", module + "/storage/internal/rowsum", false, false},
		{"storage/access", module + "/storage/transfer", false, false},
		{"storage/storagetest", module + "/storage", false, true},
		{"storage/storagetest/planted", module + "/storage/memory", false, true},
		{"storage/storagetest/planted", module + "/oauth", false, false},
		{"storage/bolt", module + "/internal/token", false, false},
		{"storage/counters/redis", module + "/storage/counters/internal/local", false, true},
		{"storage/counters/redis", module + "/storage/bolt", false, false},
		{"gateway", module + "/storage/counters", false, true},
		{"gateway", module + "/storage/counters/redis", false, false},
		{"internal/token", module + "/oauth", false, false},
		{"cmd/keystile", module + "/oauth", false, true},
		{"gateway", "github.com/ory/fosite", false, false},
		{"oauth/internal/engine", "github.com/ory/fosite/handler/oauth2", false, true},
		{"oauth", "github.com/ory/fosite", false, false},
		{"oauth", "golang.org/x/oauth2", true, false},
		{"internal/test/campaigns/agents", module + "/oauth/signin/users", false, true},
		{"internal/test/campaigns/peers", "golang.org/x/oauth2", true, true},
		{"internal/test/campaigns/peers", "golang.org/x/oauth2", false, false},
		{"storage/memory", "github.com/some/thing", false, false},
		{"internal/yamljson", "go.yaml.in/yaml/v3", false, true},
		{"cmd/keystile/internal/config", "go.yaml.in/yaml/v3", false, true},
		{"registry", "go.yaml.in/yaml/v3", false, false},
		{"cmd/keystile/internal/config internal/yamljson", "go.yaml.in/yaml/v3", false, false},
		{"gateway", "go.opentelemetry.io/otel/trace", false, true},
		{"oauth", "go.opentelemetry.io/otel/trace", false, false},
		{"gateway", "go.opentelemetry.io/otel/sdk/trace", false, false},
		{"cmd/keystile/internal/telemetry", "go.opentelemetry.io/otel/sdk/trace", false, true},
	} {
		if why := permits(c.pkg, c.path, c.test); (why == "") != c.ok {
			t.Errorf("permits(%s, %s, test %t) = %q, want allowed %t", c.pkg, c.path, c.test, why, c.ok)
		}
	}
}

const root = "../../.."
