package pages

import (
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// pictured lists the pages that pictures are taken of by day; by night they are all.
var pictured = map[string]bool{"overview": true, "app": true, "capability-new": true, "usage": true, "audit": true}

// TestPictureOfAPageIsWhole takes pictures of the console in windows of several widths, light and dark, in both
// languages, with the font that the pages ask for first. They are kept in KEYSTILE_SCREENSHOTS for somebody to look at.
// No picture is compared with one of before: fonts are drawn differently on each machine.
func TestPictureOfAPageIsWhole(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("fc-list", "Inter").Output(); err != nil || len(out) == 0 {
		t.Skipf("the font Inter is not installed (Debian: fonts-inter): %v", err)
	}
	folder := os.Getenv("KEYSTILE_SCREENSHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	b := browser.Launch(t)
	f := used(t, func(text string) string { return text })
	for _, reads := range []reader{english, chinese} {
		v := &walkthrough{t: t, b: b, s: f.service, reads: reads, looked: &looked{at: map[string]bool{}}}
		v.with(browser.Desktop)
		v.operator()
		for _, at := range f.pages() {
			if os.Getenv(everyReader) == "" && !pictured[at.name] {
				continue
			}
			v.at(at.path)
			if got := v.Fonts("h1"); !slices.Contains(got, "Inter") && reads.lang == page.English || len(got) == 0 {
				t.Errorf("%s: its heading is drawn with %q", at.name, got)
			}
			for _, width := range widths() {
				for _, dark := range []bool{false, true} {
					v.picture(folder, fmt.Sprintf("picture-%s-%s-%d", at.name, reads.lang, width), width, dark)
				}
			}
		}
		v.quiet()
	}
}

// picture takes one, and makes sure that something is on it, in the colours of the scheme.
func (v *walkthrough) picture(folder, name string, width int, dark bool) {
	v.t.Helper()
	v.Look(width, dark)
	if dark {
		name += "-dark"
	}
	if v.Overflows() {
		v.t.Errorf("%s is wider than its window", name)
	}
	path := filepath.Join(folder, name+".png")
	v.Screenshot(path)
	file, err := os.Open(path)
	fatal(v.t, err)
	defer file.Close()
	drawn, err := png.Decode(file)
	fatal(v.t, err)
	if got := drawn.Bounds().Dx(); got != width {
		v.t.Errorf("%s is %d pixels wide", name, got)
	}
	colours, sum := map[uint32]int{}, 0
	size := drawn.Bounds().Size()
	for y := 0; y < size.Y; y += 3 {
		for x := 0; x < size.X; x += 3 {
			r, g, b, _ := drawn.At(x, y).RGBA()
			colours[r>>8<<16|g>>8<<8|b>>8]++
			sum += int(r+g+b) / 3 >> 8
		}
	}
	bright := sum / ((size.X + 2) / 3 * ((size.Y + 2) / 3))
	if len(colours) < 16 || dark != (bright < 128) {
		v.t.Errorf("%s has %d colours and is as bright as %d of 255: there is nothing on it", name, len(colours), bright)
	}
}
