package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gone are words of an old dialect of this code, and what stands for them. They are looked for as
// words and as parts of identifiers; the lines below spell them so that they are not found here.
var gone = map[string]string{
	"can" + " not": "cannot",
	"e-" + "mail":  "email",
	"ho" + "use":   "service, fixture",
	"lob" + "by":   "root handler, landing page",
	"she" + "lf":   "cache, catalog state",
	"err" + "and":  "one-time code",
	"stri" + "kes": "failures",
	"furn" + "ish": "set up",
	"scr" + "ibe":  "registry",
	"do" + "or":    "endpoint, handler",
	"do" + "ors":   "endpoints, handlers",
	"wit" + "ness": "checker",
	"tour" + "ist": "user",
}

// elsewhere are files that quote, or have to use, such words.
var elsewhere = regexp.MustCompile(`^CHANGELOG\.md$|^internal/protocol/|/testdata/|^LICENSE$|package-lock\.json$|go\.sum$`)

func TestWordsThatAreGoneStayGone(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("this is no checkout of git: %v", err)
	}
	files := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || elsewhere.MatchString(name) {
			continue // removed and not yet committed, or not ours to say
		}
		files++
		for _, found := range wordsGone(string(text)) {
			t.Errorf("%s:%d: write %q for %q", name, found.line, gone[found.word], found.word)
		}
	}
	if files < 500 {
		t.Fatalf("only %d files are looked at", files)
	}
}

type foundWord struct {
	line int
	word string
}

// wordsGone finds old words in a text: between letters that are none, at the beginning of an
// identifier's part, or spelt small.
func wordsGone(text string) (found []foundWord) {
	small := strings.ToLower(text)
	for word := range gone {
		if !strings.Contains(small, word) { // nearly always, and much quicker than the pattern
			continue
		}
		for _, at := range patterns[word].FindAllStringIndex(text, -1) {
			found = append(found, foundWord{1 + strings.Count(text[:at[0]], "\n"), word})
		}
	}
	return found
}

var patterns = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for word := range gone {
		capital := strings.ToUpper(word[:1]) + word[1:]
		all[word] = regexp.MustCompile(`\b(?:` + word + `|` + capital + `)\b|[a-z]` + capital + `(?:[A-Z_(]|\b)|\b` + word + `[A-Z]`)
	}
	return all
}()

// headless matches a comment that says "X is what ..." in place of what X does.
var headless = regexp.MustCompile(`(?m)^\s*// [A-Za-z.]+ (?:is|are) (?:what|who|where|how)\b`)

// A comment begins with a name and a verb.
func TestCommentsSayWhatANameDoes(t *testing.T) {
	for _, names := range goFiles(t) {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range headless.FindAllIndex(text, -1) {
				if line := string(text[at[0]:at[1]]); !continued(text, at[0]) {
					t.Errorf("%s: %q: begin with a verb, such as holds, returns or reports", name, strings.TrimSpace(line))
				}
			}
		}
	}
}

// unread are folders whose comments were not read for it yet, and this file.
var unread = regexp.MustCompile(`/words_test\.go$|^internal/test/released/`)

// A sentence has a subject, so that it is understood at first reading.
func TestSentencesHaveASubject(t *testing.T) {
	looked := 0
	for _, names := range goFiles(t) {
		for _, name := range names {
			if unread.MatchString(filepath.ToSlash(name)) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			looked++
			for _, line := range subjectless(string(text)) {
				t.Errorf("%s:%d: a sentence without a subject: name the user, the caller or the thing", name, line)
			}
		}
	}
	if looked < 500 {
		t.Fatalf("only %d files are looked at", looked)
	}
}

var (
	subjectAtStart = regexp.MustCompile(`^(?:Who|Whoever|What|Whatever) `)
	subjectWithin  = regexp.MustCompile(`[.!?] (?:Who|Whoever|What|Whatever) [^?]*$|\b(?:of|for|by|to|from) who\b`)
)

// subjectless returns the lines of comments with sentences such as "Who asks is told." and clauses such as "for who
// asks".
func subjectless(text string) (lines []int) {
	ended := true // the sentence of the line before
	for i, line := range strings.Split(text, "\n") {
		comment, is := strings.CutPrefix(strings.TrimSpace(line), "// ")
		if !is {
			ended = true
			continue
		}
		question := strings.HasSuffix(comment, "?")
		if ended && !question && subjectAtStart.MatchString(comment) || subjectWithin.MatchString(comment) {
			lines = append(lines, i+1)
		}
		ended = strings.HasSuffix(comment, ".") || question
	}
	return lines
}

func TestSentencesWithoutASubjectAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"// Who asks is told.": 1, "\t// What is left\n\t// is kept.": 1, "// It ends. Whoever asks\n// is told.": 1,
		"// It is for who asks.":                  1,
		"// It ends.\n// Whatever comes is kept.": 1, "// It says\n// What it is.": 0, "// Who asks?": 0,
		"// It says who asks.":       0,
		"x := \"Who asks is told.\"": 0, "// A user who asks is told.": 0,
	} {
		if got := subjectless(text); len(got) != want {
			t.Errorf("%q: lines %v, want %d", text, got, want)
		}
	}
}

// continued reports whether a comment line goes on with the sentence of the line before.
func continued(text []byte, at int) bool {
	before := strings.TrimRight(string(text[:at]), "\n")
	before = strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])
	return strings.HasPrefix(before, "//") && before != "//" && !strings.ContainsAny(before[len(before)-1:], ".:;")
}

func TestOldWordsAreFoundWhereverTheyStand(t *testing.T) {
	word := "lob" + "by"
	capital := "Lob" + "by"
	for text, want := range map[string]int{
		"the " + word + " is": 1, capital + "!": 1, "new" + capital + "(x)": 1, word + "Link": 1, "in a\nnew" + capital: 1,
		"hobby": 0, word + "ing is": 0, "x" + word: 0,
	} {
		if got := len(wordsGone(text)); got != want {
			t.Errorf("%q: %d found, want %d", text, got, want)
		}
	}
}
