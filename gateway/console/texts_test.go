package console

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/switches"
)

var translated = regexp.MustCompile("(?:\\$|\\b\\w+|\\{|\\()\\.T (\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)")

// TestEverythingThatPagesSayIsThereInChinese reads the templates and what the parts declare.
func TestEverythingThatPagesSayIsThereInChinese(t *testing.T) {
	texts, wanted := maps.Clone(ui.FrameTexts()), map[string]string{}
	for _, part := range allParts() {
		for english, chinese := range part.Texts {
			texts[english] = chinese
		}
		for _, p := range part.Pages {
			wanted[p.Title], wanted[p.Section] = p.Path, p.Path
			for _, tab := range p.Tabs {
				wanted[tab.Title] = p.Path
			}
			for _, a := range p.Acts {
				wanted[a.Done], wanted[a.Says] = p.Path, p.Path
				if a.Says == "" && !a.Stale {
					t.Errorf("an act of %s does not say what it is", p.Path)
				}
			}
		}
	}
	for _, one := range switches.All() {
		wanted[one.Help] = "the page of settings"
	}
	err := fs.WalkDir(os.DirFS("internal"), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") {
			return err
		}
		text, err := os.ReadFile("internal/" + path)
		for _, m := range translated.FindAllStringSubmatch(string(text), -1) {
			literal, err := strconv.Unquote(m[1])
			if err != nil {
				t.Errorf("%s: %s: %v", path, m[1], err)
			}
			wanted[literal] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for english, where := range wanted {
		chinese, ok := texts[english]
		if !ok && english != "" && page.Chinese.Of(english) != page.Chinese {
			t.Errorf("%s says %q, which has no translation", where, english)
		}
		if ok && strings.Count(english, "%s") != strings.Count(chinese, "%s") {
			t.Errorf("%q and %q do not fill in the same", english, chinese)
		}
	}
	if len(wanted) < 10 {
		t.Errorf("only %d texts were found", len(wanted))
	}
}
