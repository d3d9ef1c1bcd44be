package toolschema

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

func TestPatternsAreMendedOrDropped(t *testing.T) {
	for pattern, want := range map[string]string{
		`^[a-z]{2,5}(?:x|y)\d+$`:       `^[a-z]{2,5}(?:x|y)\d+$`,
		`^a\-b\_c\@d\ e\"f\:$`:         `^a-b_c@d e"f:$`,
		`^[\w-.]+\.[a-z]$`:             `^[\w\-.]+\.[a-z]$`,
		`^[.-\w]$`:                     `^[.\-\w]$`,
		`^[\w-]$`:                      `^[\w-]$`,
		`^[-\w]$`:                      `^[-\w]$`,
		`^[a\-z\_\!\.]$`:               `^[a\-z_!\.]$`,
		`^[^\s\/\#]+$`:                 `^[^\s\/#]+$`,
		`^{[a-f0-9]+}$`:                `^\{[a-f0-9]+\}$`,
		`^a]b}$`:                       `^a\]b\}$`,
		`^[\u4e00-\u9fa5]+$`:           "^[一-龥]+$",
		`^[\u002d]$`:                   `^[\-]$`,
		`^\u002a\u002d$`:               `^\*-$`,
		`\x41[\x41-\x5a]\bA\B`:         `\x41[\x41-\x5a]\bA\B`,
		`^\é$`:                         `^é$`,
		`^[a-zA-Z0-9_'\-., \":;\!?]*$`: `^[a-zA-Z0-9_'\-., ":;!?]*$`,
		// Dropped: it is not known what they mean, or not everybody can read it.
		`^[a-z]{1, 32}$`: ``, `^[a-z]{,5}$`: ``, `(?i)^a$`: ``, `(?=a)b`: ``, `(?<n>a)`: ``, `(a)\1`: ``, `\Aa\z`: ``, `\p{L}`: ``, `[[:alpha:]]`: ``,
		`[]a]`: ``, `[^]`: ``, `[`: ``, `a\`: ``, `[\b]`: ``, `\cA`: ``, `\0`: ``, `[z-a]`: ``, `[0-9A-Za-z_-.]`: ``, `a**`: ``, `\u200b`: ``, `\ud83d`: ``, `\x{41}`: ``, `\u{41}`: ``, `\h`: ``,
	} {
		if got := portable(pattern); got != want {
			t.Errorf("portable(%s) = %s, want %s", pattern, got, want)
		}
		if again := portable(want); want != "" && again != want {
			t.Errorf("portable(%s) = %s, want it unchanged", want, again)
		}
	}
}

// A JavaScript engine with the flag u reads the patterns that are shown.
func TestJavaScriptReadsWhatIsShownOfPatterns(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	pieces := []string{`\`, `[`, `]`, `(`, `)`, `(?:`, `{`, `}`, `{2}`, `{1,`, `-`, `^`, `$`, `*`, `+`, `?`, `.`, `|`, `/`, `,`, ` `, `a`, `z`, `0`, `\w`, `\-`, `\_`, `\d`, `\u4e00`, `\u002d`, `\x41`, `é`, `龥`, `&&`, `\b`, `"`, `<`}
	random := rand.New(rand.NewPCG(1, 2))
	var shown []string
	for range 60_000 {
		var pattern strings.Builder
		for range 1 + random.IntN(9) {
			pattern.WriteString(pieces[random.IntN(len(pieces))])
		}
		if out := portable(pattern.String()); out != "" {
			shown = append(shown, out)
		}
	}
	if len(shown) < 1000 {
		t.Fatalf("%d patterns are shown, too few to say anything", len(shown))
	}
	text, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	const script = `let bad = 0
for (const p of JSON.parse(require("fs").readFileSync(0))) try { new RegExp(p, "u") } catch (e) { if (bad++ < 20) console.log(e.message) }
process.exit(bad ? 1 : 0)`
	cmd := exec.CommandContext(t.Context(), node, "-e", script)
	cmd.Stdin = bytes.NewReader(text)
	if message, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("of %d patterns: %v\n%s", len(shown), err, message)
	}
}

func FuzzPortable(f *testing.F) {
	for _, seed := range []string{`^[\w-.]+$`, `a\-b`, `{x}`, `[\u4e00-龥]`, `[a-\d-z]`, `(?:a)|b{2,}?`, `\_[\_]`, `[^-\]]`, `a{2}{3}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if out := portable(pattern); out != "" && portable(out) == "" {
			t.Errorf("portable(%q) = %q, which is not portable", pattern, out)
		}
	})
}
