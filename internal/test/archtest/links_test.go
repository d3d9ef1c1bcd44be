package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProviderAloneLinksFosite(t *testing.T) {
	const fosite = "github.com/ory/fosite"
	if !slices.Contains(deps(t, "oauth"), fosite) {
		t.Fatal("oauth links no fosite: the test lists the wrong thing")
	}
	for _, room := range []string{"gateway", "gateway/billing", "gateway/remote", "registry", "mcpbus", "legacy",
		"oauth/signin", "storage/bolt", "internal/token"} {
		if slices.Contains(deps(t, room), fosite) {
			t.Errorf("%s links fosite: whoever imports it gets some 50 modules", room)
		}
	}
}

// A host that ships nothing to a store of objects links none of the code that signs for one.
func TestBucketAloneLinksItsSigner(t *testing.T) {
	const signer = "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	if !slices.Contains(deps(t, "gateway/stream/s3"), signer) {
		t.Fatal("gateway/stream/s3 links no signer: the test lists the wrong thing")
	}
	for _, room := range []string{".", "gateway", "gateway/stream", "registry", "mcpbus", "legacy", "oauth",
		"storage/bolt"} {
		if slices.Contains(deps(t, room), signer) {
			t.Errorf("%s links %s", room, signer)
		}
	}
}

func TestProgramAloneLinksTheSDKOfOpenTelemetry(t *testing.T) {
	heavy := []string{"go.opentelemetry.io/otel/sdk/trace",
		"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", "google.golang.org/grpc"}
	shipped := deps(t, "cmd/keystile")
	for _, pkg := range heavy {
		if !slices.Contains(shipped, pkg) {
			t.Errorf("cmd/keystile links no %s: the test lists the wrong thing", pkg)
		}
	}
	for _, room := range []string{"gateway", "gateway/console", "registry", "mcpbus", "legacy", "oauth/signin", "storage",
		"storage/oteltrace", "internal/span"} {
		for _, pkg := range deps(t, room) {
			if slices.Contains(heavy, pkg) {
				t.Errorf("%s links %s: whoever imports it gets the SDK of OpenTelemetry", room, pkg)
			}
		}
	}
}

// A host that makes tools and gives no advice on documents pays for no validator, which compiles schemas at each start.
func TestValidatorOfOpenAPIIsLinkedByAdviceOnly(t *testing.T) {
	const kin = "github.com/getkin/kin-openapi/openapi3"
	if !slices.Contains(deps(t, "registry/lint"), kin) {
		t.Fatal("registry/lint links no kin-openapi: the test lists the wrong thing")
	}
	for _, room := range []string{"registry", "registry/pins", "mcpbus", "gateway", "gateway/console", "legacy", "oauth"} {
		for _, pkg := range deps(t, room) {
			if pkg == kin || strings.HasPrefix(pkg, "github.com/santhosh-tekuri/jsonschema") {
				t.Errorf("%s links %s", room, pkg)
			}
		}
	}
}

func TestProgramLinksNothingForTests(t *testing.T) {
	shipped := deps(t, "cmd/keystile")
	for _, pkg := range []string{module + "/internal/test/openapitest", module + "/internal/test/dialogue",
		"github.com/russross/blackfriday/v2", "github.com/cpuguy83/go-md2man/v2/md2man", "github.com/spf13/cobra/doc",
		module + "/internal/test/hiddentext", module + "/internal/test/pty", "github.com/chromedp/chromedp"} {
		if slices.Contains(shipped, pkg) {
			t.Errorf("cmd/keystile links %s, which is for tests", pkg)
		}
	}
}

// The program is downloaded and mapped as a whole: a library that doubles it is noticed. The bound is what the table of
// internal/test/campaigns/bench says, and a little.
func TestProgramIsNoLargerThanItSays(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	const most = 52_200_000 // bytes
	binary := filepath.Join(t.TempDir(), "keystile")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary,
		"./cmd/keystile")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	is, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if is.Size() > most {
		t.Errorf("the stripped program has %d bytes, want at most %d", is.Size(), most)
	}
}

func TestTopLevelHoldsNothingElse(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(topLevel, name) && !ignored(t, name) {
			t.Errorf("%s: not part of the top level", name)
		}
	}
}

func deps(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+pkg)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps ./%s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

// ignored reports whether git leaves the file alone: what a run or a build leaves behind.
func ignored(t *testing.T, name string) bool {
	cmd := exec.CommandContext(t.Context(), "git", "check-ignore", "-q", name)
	cmd.Dir = root
	return cmd.Run() == nil
}
