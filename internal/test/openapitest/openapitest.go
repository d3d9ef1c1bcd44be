package openapitest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/reply"
)

// Checker knows a document, and what it has seen of the service.
type Checker struct {
	doc        object
	operations []operation

	mu   sync.Mutex
	seen map[string]bool // operations that have succeeded, by id
}

// New makes a Checker of the merged documents of packages.
func New(t testing.TB, documents ...[]byte) *Checker {
	t.Helper()
	raw, err := apidoc.Of(documents...).JSON(apidoc.Example)
	if err != nil {
		t.Fatal(err)
	}
	return Of(t, raw)
}

// Of makes a Checker of a document as it is served.
func Of(t testing.TB, raw []byte) *Checker {
	t.Helper()
	doc, err := objectOf(raw)
	if err != nil || doc["paths"] == nil {
		t.Fatalf("this is no document: %v: %.200s", err, raw)
	}
	closed(doc)
	return &Checker{doc: doc, operations: open(doc), seen: map[string]bool{}}
}

var goodID = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)+$`)

// Routes checks the document against a package's route table: each path and method is described
// and nothing else is. HEAD needs no words where GET has it; a GET without it says so.
func (w *Checker) Routes(t testing.TB, routes []reply.Route) {
	t.Helper()
	for _, complaint := range w.routes(routes) {
		t.Error(complaint)
	}
}

func (w *Checker) routes(routes []reply.Route) (wrong []string) {
	wrong = w.names()
	described := map[string]operation{} // by method and path
	for _, op := range w.operations {
		for _, path := range append([]string{op.path}, op.aliases...) {
			if op.anyMethod {
				described["* "+path] = op
				continue
			}
			described[op.method+" "+path] = op
		}
	}
	for _, r := range routes {
		path := strings.TrimSuffix(r.Path, "{$}")
		given := r.Methods
		if given == nil {
			given = []string{"*"}
		}
		for _, method := range given {
			key := method + " " + path
			op, there := described[key]
			switch {
			case method == "HEAD" && slices.Contains(given, "GET"):
			case !there:
				wrong = append(wrong, key+" is served, and not described")
			case method == "GET" && slices.Contains(given, "HEAD") == strings.Contains(text(op.node["description"]),
				"HEAD is refused"):
				wrong = append(wrong, key+`: its description has "HEAD is refused" if and only if HEAD is`)
			}
			delete(described, key)
		}
	}
	for key := range described {
		wrong = append(wrong, key+" is described, and not served")
	}
	slices.Sort(wrong)
	return wrong
}

// names says which operations have no good name, or no words.
func (w *Checker) names() (wrong []string) {
	ids := map[string]bool{}
	for _, op := range w.operations {
		at := op.method + " " + op.path
		tags, _ := op.node["tags"].([]any)
		switch {
		case !goodID.MatchString(op.id):
			wrong = append(wrong, at+": the operationId "+op.id+" is not of the form get_quota")
		case ids[op.id]:
			wrong = append(wrong, at+": the operationId "+op.id+" is there twice")
		case op.node["summary"] == nil || len(tags) != 1:
			wrong = append(wrong, at+": it has no summary, or not one tag")
		}
		ids[op.id] = true
	}
	return wrong
}

// Describes reports whether the document has anything at a path, or below it.
func (w *Checker) Describes(path string) bool {
	for _, op := range w.operations {
		for _, at := range append([]string{op.path}, op.aliases...) {
			if at == path || strings.HasPrefix(at, strings.TrimSuffix(path, "/")+"/") {
				return true
			}
		}
	}
	return false
}

// SawEverything reports an error for each operation that Watch has not seen succeed.
func (w *Checker) SawEverything(t testing.TB) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, op := range w.operations {
		if !w.seen[op.id] {
			t.Errorf("%s %s (%s) is described, and no request here succeeds at it", op.method, op.path, op.id)
		}
	}
}
