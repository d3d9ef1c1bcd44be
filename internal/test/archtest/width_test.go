package archtest

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	mostColumns = 120
	unbroken    = 60 // characters of a word that is left whole, however long its line: an address, a key
)

func TestLinesHaveAtMost120Columns(t *testing.T) {
	looked := 0
	for _, names := range goFiles(t) {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			looked++
			for _, n := range wideLines(string(text)) {
				t.Errorf("%s:%d has more than %d characters, counting a tab as one", name, n, mostColumns)
			}
		}
	}
	if looked < 1500 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// wideLines are the numbers of the lines of a Go file that are too long. The text of a raw string is data and may be of
// any width.
func wideLines(text string) (wide []int) {
	for i, l := range strings.Split(text, "\n") {
		whole := func(word string) bool { return utf8.RuneCountInString(word) >= unbroken }
		if utf8.RuneCountInString(l) > mostColumns && !slices.ContainsFunc(strings.Fields(l), whole) {
			wide = append(wide, i+1)
		}
	}
	if wide == nil {
		return nil
	}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return wide
		}
		if tok == token.STRING && lit[0] == '`' {
			first := file.Line(pos)
			last := first + strings.Count(lit, "\n")
			wide = slices.DeleteFunc(wide, func(n int) bool { return first <= n && n <= last })
		}
	}
}

func TestLineThatIsTooLongIsFound(t *testing.T) {
	long := strings.Repeat("word ", 25)
	text := "package p\n\n// " + long + "\n\nvar a = `" + long + "\n" + long + "`\n\n" +
		"var b = \"" + long + "\"\n\nvar c = \"" + strings.Repeat("x", 121) + "\"\n"
	if got := wideLines(text); !slices.Equal(got, []int{3, 8}) {
		t.Errorf("the lines that are too long are %v, want 3 and 8", got)
	}
}
