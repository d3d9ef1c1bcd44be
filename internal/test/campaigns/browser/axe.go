package browser

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// axe-core is installed with the other things of npm and its version is locked there.
const axeFolder = "peers/node" // of this module

// rules list what a page is checked against: the tags of axe-core, and the size of what is
// clicked, which has such a tag but waits to be asked for.
const (
	rules = `{
		runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
		rules: {"target-size": {enabled: true}},
		resultTypes: ["violations", "incomplete"],
	}`
	rulesOfColours = `{
		runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]},
		resultTypes: ["violations", "incomplete"],
	}`
)

// atOnce is in place of timers, which axe-core waits by and which do not run where scripts
// may not.
const atOnce = "window.setTimeout = (f, after, ...args) => { Promise.resolve().then(() => f(...args)); return 0; };\n"

// Finding is one rule of axe-core that a page breaks, or that a person must check.
type Finding struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML, FailureSummary string
	}
}

func (f Finding) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s): %s", f.ID, f.Impact, f.Help)
	for _, n := range f.Nodes {
		fmt.Fprintf(&text, "\n    %s\n      %s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n      "))
	}
	return text.String()
}

// axe is the text of axe-core, read once.
var axe = sync.OnceValues(func() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if there := filepath.Join(folder, axeFolder); exists(there) {
			text, err := os.ReadFile(filepath.Join(there, "node_modules/axe-core/axe.min.js"))
			return string(text), err
		}
		up := filepath.Dir(folder)
		if up == folder {
			return "", errors.New("no folder above has a folder " + axeFolder)
		}
		folder = up
	}
})

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Audit holds the page as it is now against axe-core: what is wrong, and what axe-core can
// not tell. It runs beside the page's own scripts, in a world of its own, so that the page
// keeps its Content-Security-Policy. Without axe-core the test is skipped.
func (p *Page) Audit() (wrong, unsure []Finding) {
	p.t.Helper()
	return p.audit(rules)
}

// AuditColours is Audit as far as the colours matter.
func (p *Page) AuditColours() (wrong, unsure []Finding) {
	p.t.Helper()
	return p.audit(rulesOfColours)
}

func (p *Page) audit(rules string) (wrong, unsure []Finding) {
	p.t.Helper()
	source, err := axe()
	if err != nil {
		p.t.Skipf("axe-core is not installed (%v): run npm ci in %s", err, axeFolder)
	}
	if p.scriptless { // axe-core passes over what stands in these
		p.eval(`document.querySelectorAll("noscript").forEach(e => e.replaceWith(...e.childNodes)), 0`, new(int))
	}
	world := p.world()
	var there bool
	p.evaluate(runtime.EvaluateParams{Expression: `typeof axe !== "undefined"`, ContextID: world, ReturnByValue: &yes}, &there)
	if !there {
		p.evaluate(runtime.EvaluateParams{Expression: atOnce + source + "\n;0", ContextID: world}, nil)
	}
	var got struct{ Violations, Incomplete []Finding }
	p.evaluate(runtime.EvaluateParams{
		Expression: "axe.run(" + rules + ").then(r => ({Violations: r.violations, Incomplete: r.incomplete}))",
		ContextID:  world, AwaitPromise: &yes, ReturnByValue: &yes,
	}, &got)
	return got.Violations, got.Incomplete
}

// world makes a place beside the page's scripts: it sees the page, and these do not see it.
func (p *Page) world() runtime.ExecutionContextID {
	p.t.Helper()
	frame := call(p, page.GetFrameTree, cdp.Empty{}).FrameTree.Frame.ID
	return call(p, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frame,
		WorldName: "audit"}).ExecutionContextID
}
