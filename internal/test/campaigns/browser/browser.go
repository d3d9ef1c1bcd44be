package browser

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// names lists the names of the Chromium executable.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

// patience bounds every wait: a browser that hangs fails the test.
const patience = 60 * time.Second

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context // chromedp's: it has the process and its first tab
}

// Start runs Chromium until the test ends and returns an empty page. Without Chromium on
// the PATH the test is skipped.
func Start(t *testing.T) *Page {
	t.Helper()
	return Launch(t).Tab(t, Desktop)
}

// Launch runs Chromium until the test ends. The test is skipped without Chromium on the PATH, and
// by -short.
func Launch(t *testing.T) *Browser {
	t.Helper()
	return find(t)
}

// LaunchTrusting is Launch for a site with a certificate that nobody else trusts.
func LaunchTrusting(t *testing.T, certificate *x509.Certificate) *Browser {
	t.Helper()
	key := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return find(t, chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:])))
}

func find(t *testing.T, more ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return launch(t, path, more...)
		}
	}
	t.Skipf("no Chromium on the PATH (looked for %q)", names)
	return nil
}

func launch(t *testing.T, path string, more ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	defaults := chromedp.DefaultExecAllocatorOptions[:]
	options := append(defaults[:len(defaults):len(defaults)],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("allow-pre-commit-input", true), // else what is clicked before a page is first drawn is lost
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	allocator, release := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, _ := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		defer release()
		ending, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := chromedp.Cancel(ending); err != nil { // waits until Chromium has left
			t.Log(err)
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &Browser{ctx: ctx}
}

// Tab opens an empty page that shares nothing with any other, no cookie either, until the
// test ends. Tests may use several at once, each from one goroutine.
func (b *Browser) Tab(t *testing.T, d Device) *Page {
	t.Helper()
	p := &Page{t: t, device: d, events: make(chan any, 10_000)}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	p.ctx, p.target = ctx, chromedp.FromContext(ctx).Target
	call(p, audits.Enable, cdp.Empty{})
	p.become(d)
	return p
}

// call runs one command in the tab of a page. It fails the test if the browser refuses it or
// does not answer.
func call[P, R any](p *Page, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	result, err := cdp.Call(ctx, p.target, c, params)
	if err != nil {
		p.t.Fatalf("%s: %v", c.Method, err)
	}
	return result
}
