package registry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTheCorpusLosesNothing(t *testing.T) {
	rows := table(t, corpusFile(t, "index.csv"))
	pieces := 0
	for _, row := range rows {
		text, err := os.ReadFile(corpusFile(t, filepath.Join(row["bucket"], row["name"])))
		if err != nil {
			t.Fatal(err)
		}
		pieces += losesNothing(t, row["name"], text)
	}
	if pieces < 15_000 {
		t.Errorf("%d pieces were looked for: the corpus is not read", pieces)
	}
	t.Logf("%d documents, %d pieces, none lost", len(rows), pieces)
}

// losesNothing fails if a piece of a document is neither in a tool nor listed, and returns how many there were.
func losesNothing(t *testing.T, name string, document []byte) int {
	t.Helper()
	r, err := parse(t.Context(), document, Options{Member: "m"})
	if refused := (*Rejection)(nil); errors.As(err, &refused) {
		return 0 // as a whole, and it says why
	}
	if err != nil {
		t.Fatal(err)
	}
	lost, pieces := lostOf(t, document, r)
	for i, what := range lost {
		if i == 5 {
			t.Errorf("%s: and %d more", name, len(lost)-5)
			break
		}
		t.Errorf("%s: %s", name, what)
	}
	return pieces
}
