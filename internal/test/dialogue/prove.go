package dialogue

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// Stage makes, inside of a bubble, what a dialogue of a file is held with, and the values
// that {{name}} stands for at its start.
type Stage func(t *testing.T, file string) (http.Handler, map[string]string)

// Prove plays all dialogues of testdata/dialogues, each on a stage and in a synctest bubble
// of its own. It fails unless each row of testdata/rows.txt is proven by one of them, and
// none claims a row that is not there. A row marked "later" is counted and waits; a line
// that begins with # is for the reader.
func Prove(t *testing.T, origin string, stage Stage) {
	t.Helper()
	files, err := filepath.Glob("testdata/dialogues/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no dialogues: %v", err)
	}
	proven := map[string]bool{}
	for _, file := range files {
		all, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			t.Run(d.Title, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h, values := stage(t, file)
					d.Play(t, h, origin, values)
				})
			})
			for _, row := range d.Rows {
				proven[row] = true
			}
		}
	}
	text, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed, covered, wrong := cover(string(text), proven)
	for _, complaint := range wrong {
		t.Error(complaint)
	}
	fmt.Printf("note: rows of the protocol proven: %d of %d\n", covered, listed)
}

// cover holds the rows of a list against those that were proven.
func cover(rows string, proven map[string]bool) (listed, covered int, wrong []string) {
	proven = maps.Clone(proven)
	for line := range strings.Lines(rows) {
		row, later, _ := strings.Cut(strings.TrimSpace(line), " ")
		if row == "" || row[0] == '#' {
			continue
		}
		listed++
		switch {
		case proven[row]:
			covered++
		case later != "later":
			wrong = append(wrong, "no dialogue proves the row "+row)
		}
		delete(proven, row)
	}
	for _, row := range slices.Sorted(maps.Keys(proven)) {
		wrong = append(wrong, "a dialogue claims the row "+row+", which rows.txt does not list")
	}
	return listed, covered, wrong
}
