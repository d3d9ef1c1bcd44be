package signin

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/web"
)

func TestForeignTextIsEscapedOnThePhone(t *testing.T) {
	rm := newFixture(t, nil)
	app, err := rm.store.Store.App(t.Context(), "ksacme")
	must(t, err)
	app.Name = `<script>alert(1)</script><img src=x onerror=alert(1)>`
	_, err = rm.store.SaveApp(t.Context(), app)
	must(t, err)
	r := get(web.Link{Path: web.QRPath}.Carrying(authorizeQuery).Path)
	r.Header.Set("User-Agent", `Firefox/1 Windows <script>alert(2)</script>"'><img src=x>`)
	shown := rm.do(r)
	a := rm.phone().open(hiddenID.FindStringSubmatch(shown.body)[1])
	if a.Code != http.StatusOK || !strings.Contains(a.body, "&lt;script&gt;alert(1)") ||
		!strings.Contains(a.body, "Firefox on Windows") {
		t.Errorf("the phone's page = %d without the name as text", a.Code)
	}
	for _, bad := range []string{"<script>", "<img", "alert(2)"} {
		if strings.Contains(a.body, bad) || strings.Contains(shown.body, bad) {
			t.Errorf("a page holds %q", bad)
		}
	}
	if strings.Contains(a.policy(), "script-src") || !strings.Contains(a.policy(), "form-action 'self';") ||
		!strings.Contains(a.policy(), "frame-ancestors 'none'") {
		t.Errorf("the phone's policy is %q", a.policy())
	}
}

func TestPhoneAndTheOtherBrowserEachUseTheirLanguage(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery+"&ui_locales=zh-CN")
	if !strings.Contains(sc.shown.body, `<html lang="zh-CN">`) || strings.Contains(sc.shown.body, "phone") {
		t.Error("the screen does not speak Chinese alone")
	}
	if a := p.open(sc.id); !strings.Contains(a.body, `<html lang="en">`) {
		t.Error("the phone speaks the screen's language")
	}
	r := get(web.ScanPath+sc.id, p.cookie)
	r.Header.Set("Accept-Language", "zh-CN")
	if a := rm.do(r); !strings.Contains(a.body, `<html lang="zh-CN">`) || strings.Contains(a.body, "another") || strings.Contains(a.body, "Confirm") {
		t.Error("the phone does not speak Chinese alone")
	}
}

func TestBrokenScanIDIsAPage(t *testing.T) {
	rm := newFixture(t, nil)
	p := rm.phone()
	for _, id := range []string{"x", strings.Repeat("a", 26), strings.Repeat("A", 26), strings.Repeat("A", 4000), "%00",
		"%2e%2e"} {
		for _, a := range []answer{p.open(id), rm.do(get(web.ScanPath + id))} {
			if a.Code != http.StatusNotFound {
				t.Errorf("%.30q = %d, want 404", id, a.Code)
			}
		}
	}
}

// A session that knows no address, of a program behind no network, still says something.
func TestUnknownAddressIsSaidToBeUnknown(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.ClientIP = func(*http.Request) netip.Addr { return netip.Addr{} } })
	a := rm.phone().open(rm.showCode("").id)
	if !strings.Contains(a.body, "Someone at an unknown address with Firefox on Windows") ||
		strings.Contains(a.body, "<dt>") {
		t.Errorf("the phone's page = %d: %s", a.Code, a.body)
	}
}
