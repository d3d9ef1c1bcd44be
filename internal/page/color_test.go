package page

import (
	"regexp"
	"strings"
	"testing"
)

func TestTextOnAnyBrandColourIsReadable(t *testing.T) {
	ink := regexp.MustCompile(`--on-accent:(#[0-9a-f]{6})`)
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				accent := rgb{uint8(r), uint8(g), uint8(b)}
				on, _ := parseColor(ink.FindStringSubmatch(string(paint(accent.String())))[1])
				if c := contrast(accent, on); c < 4.5 {
					t.Fatalf("%v on %v has contrast %.2f, want 4.5 (WCAG 1.4.3)", on, accent, c)
				}
			}
		}
	}
}

func TestColorAcceptsOnlyColors(t *testing.T) {
	for _, text := range []string{"", "red", "#fff", "#12345", "#1234567", "#12345g", "#+1+1+1", "123456#", "#000;}*",
		"#12 456", "#-1-1-1"} {
		if got := paint(text); got != "" {
			t.Errorf("paint(%q) = %q, want nothing", text, got)
		}
	}
	if got, want := paint("#FFD400"),
		":root:root{--accent:#ffd400;--on-accent:#000000;--edge:#0000004d;--ring:var(--text);"+
			"--glow:var(--page)}"; string(got) != want {
		t.Errorf("paint(#FFD400) = %q, want %q", got, want)
	}
}

// Text needs 4.5:1 against its background, shapes that are only recognised 3:1 (WCAG 2.2 AA 1.4.3,
// 1.4.11), in the light and in the dark.
func TestPaletteIsReadable(t *testing.T) {
	light, dark, ok := strings.Cut(tokensText, "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("the style has no dark palette")
	}
	dark, _, _ = strings.Cut(dark, "\n}")
	for theme, css := range map[string]string{"light": light, "dark": dark} {
		color := map[string]rgb{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
			color[m[1]], _ = parseColor(m[2])
		}
		for _, c := range []struct {
			front, back string
			least       float64
		}{
			{"text", "card", 4.5}, {"text", "page", 4.5}, {"text", "field", 4.5}, {"text", "glow", 4.5},
			{"muted", "card", 4.5}, {"muted", "page", 4.5}, {"muted", "glow", 4.5},
			{"on-accent", "accent", 4.5}, {"bad", "bad-card", 4.5},
			{"line", "card", 3}, {"line", "field", 3}, {"bad", "field", 3}, {"bad", "card", 3},
			{"ring", "card", 3}, {"ring", "page", 3}, {"accent", "card", 3},
		} {
			front, there := color[c.front]
			back, here := color[c.back]
			if got := contrast(front, back); !there || !here || got < c.least {
				t.Errorf("%s: %s on %s has contrast %.2f, want %.1f", theme, c.front, c.back, got, c.least)
			}
		}
	}
}
