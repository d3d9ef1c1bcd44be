package firstrun

import (
	"regexp"
	"testing"
)

func TestPasswordsHaveAHundredBits(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		p := drawPassword()
		if seen[p] || !regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{5}(-[0-9a-hjkmnp-tv-z]{5}){3}$`).MatchString(p) {
			t.Fatalf("drawPassword() = %q", p)
		}
		seen[p] = true
	}
	letter := map[rune]bool{}
	for _, l := range letters {
		letter[l] = true
	}
	if len(letter) != 32 {
		t.Errorf("%d different letters, want 32: 5 bits each", len(letter))
	}
}
