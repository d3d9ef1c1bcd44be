package signin

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// number returns the result of a poll.
func (sc *codeBrowser) number() string {
	a := sc.rm.do(sc.with(get(scan.PollPath + "?id=" + sc.id)))
	var reply struct{ Status, Number string }
	if err := json.Unmarshal([]byte(a.body), &reply); err != nil ||
		(reply.Number != "") != (reply.Status == scan.Scanned) {
		sc.rm.t.Errorf("a poll says %s: a number is for a code that is scanned", a.body)
	}
	return reply.Number
}

func TestQRSignInShowsTheSameNumberOnBothDevicesAfterTheScan(t *testing.T) {
	rm := newFixture(t, nil)
	p, sc := rm.phone(), rm.showCode(authorizeQuery)
	if n := sc.number(); n != "" {
		t.Errorf("before the scan the number is %q", n)
	}
	a := p.open(sc.id)
	n := sc.number()
	if !regexp.MustCompile(`^[1-9][0-9]$`).MatchString(n) {
		t.Fatalf("the number is %q, want two digits", n)
	}
	if want := "Do both devices show the number " + n + "?"; !strings.Contains(a.body, want) || strings.Index(a.body, want) > strings.Index(a.body, `value="confirm"`) {
		t.Errorf("the phone lacks %q before its button: %s", want, a.body)
	}
	for range 2 { // looking again draws no other one
		if again := p.open(sc.id); !strings.Contains(again.body, "the number "+n+"?") || sc.number() != n {
			t.Errorf("it changes to %q", sc.number())
		}
	}
	if shown := sc.collect(); shown.Code != http.StatusBadRequest || !strings.Contains(shown.body, "shows the number "+n) {
		t.Errorf("without a script the screen = %d, lacks the number %s: %s", shown.Code, n, shown.body)
	}
	p.answer(sc.id, "confirm")
	if got := sc.number(); got != "" {
		t.Errorf("after the answer the number is %q", got)
	}
}

func TestNumberIsDrawnAndNotInTheCode(t *testing.T) {
	rm := newFixture(t, nil)
	p := rm.phone()
	drawn := map[string]bool{}
	for range 40 {
		sc := rm.showCode("")
		p.open(sc.id)
		drawn[sc.number()] = true
		tk, err := rm.store.Ticket(t.Context(), handle.Hash(sc.id))
		if err != nil || tk.Number != sc.number() {
			t.Fatalf("the ticket holds %q, %v", tk.Number, err)
		}
	}
	if len(drawn) < 10 { // 40 of 90: fewer than ten different ones come once in 10^20 runs
		t.Errorf("40 numbers are %v", drawn)
	}
	sc := rm.showCode("")
	thief := &codeBrowser{rm: rm, browser: handle.NewCookie(), id: sc.id}
	p.open(sc.id)
	if a := rm.do(thief.with(get(scan.PollPath + "?id=" + sc.id))); a.Code != http.StatusNotFound {
		t.Errorf("another browser is told %d %s", a.Code, a.body)
	}
}

// The words of a script come from the page, so that they are in the reader's language, and go in as
// text.
func TestPageHasTheWordsForTheNumber(t *testing.T) {
	rm := newFixture(t, nil)
	for lang, want := range map[string]string{
		"en":    `data-number="Scanned. Your phone shows the number %s. Confirm there only if it is the same."`,
		"zh-CN": `data-number="已扫码。手机上显示的数字是 %s，`,
	} {
		r := get(web.QRPath)
		r.Header.Set("Accept-Language", lang)
		if a := rm.do(r); !strings.Contains(a.body, want) || !strings.Contains(a.body, `role="status" aria-live="polite"`) {
			t.Errorf("%s: the page lacks %q", lang, want)
		}
	}
	for _, bad := range []string{"innerHTML", "eval", "insertAdjacent"} {
		if strings.Contains(rm.do(get(scan.ScriptPath)).body, bad) {
			t.Errorf("the script uses %s", bad)
		}
	}
	for _, text := range []string{"Do both devices show the number %s?",
		"Confirm on the phone, if both show the same number.", "I have scanned the code: continue"} {
		if page.Chinese.Of(text) != page.Chinese {
			t.Errorf("%q is not in the table", text)
		}
	}
}
