package web

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// WCAG 1.4.11 asks for 3:1, against the drawing and against the page in both themes.
func TestMarkIsSeenInBothThemes(t *testing.T) {
	luminance := func(color string) float64 {
		n, err := strconv.ParseUint(color[1:], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		part := func(shift uint) float64 {
			c := float64(n>>shift&0xff) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
	}
	contrast := func(a, b string) float64 {
		x, y := luminance(a), luminance(b)
		return (max(x, y) + 0.05) / (min(x, y) + 0.05)
	}
	fill := regexp.MustCompile(`fill="(#[0-9a-f]{6})"`)
	for method, mark := range marks {
		text := string(mark)
		if strings.Contains(text, "style") || strings.Contains(text, "href") || strings.Contains(text, "<title") || !strings.Contains(text, `aria-hidden="true"`) || len(text) > 512 {
			t.Errorf("%s: %s", method, text)
		}
		found := fill.FindStringSubmatch(text)
		if found == nil {
			if !strings.Contains(text, `stroke="currentColor"`) {
				t.Errorf("%s has neither a tile nor the color of the text", method)
			}
			continue
		}
		for _, beside := range []string{"#ffffff", "#161923"} { // the card, light and dark; the drawing is white
			if got := contrast(found[1], beside); got < 3 {
				t.Errorf("%s: %s on %s has %.2f:1", method, found[1], beside, got)
			}
		}
	}
}

func TestProviderHasItsMarkAndOthersAGenericOne(t *testing.T) {
	seen := map[string]string{}
	for _, method := range []string{
		storage.LoginWX, storage.LoginQQ, storage.LoginAlipay, storage.LoginDouyin, storage.LoginFeishu, storage.LoginWeCom,
		storage.LoginDingTalk, storage.LoginEmail, MarkQR,
	} {
		mark := string(Link{Method: method}.Mark())
		if seen[mark] != "" || mark == string(marks[MarkOther]) {
			t.Errorf("%s has the mark of %s", method, seen[mark])
		}
		seen[mark] = method
	}
	if got := (Link{Method: "badge"}).Mark(); got != marks[MarkOther] {
		t.Errorf("a host's own method has %s", got)
	}
}
