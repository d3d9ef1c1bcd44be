package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

// filled is a data file with some of everything, and pages that were freed.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range 300 {
		id := fmt.Sprint("id ", i)
		token := driver.Token{Key: handle.KeyOf(handle.New("", now)), Grant: id, AppID: "a", UserID: "u",
			ExpiresAt: now.Add(time.Duration(i) * time.Second)}
		_, err := s.Put(t.Context(), driver.Doc{Kind: "thing", ID: id, Index: []string{"all", id}, Data: fmt.Appendf(nil, `{"text":"%0300d"}`, i)})
		if err == nil {
			err = s.Issue(t.Context(), token)
		}
		if err == nil {
			err = s.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: id, Until: token.ExpiresAt})
		}
		if err == nil {
			err = s.Append(t.Context(), driver.Record{At: now, Data: []byte(id)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Sweep(t.Context(), now.Add(100*time.Second), 1000); err != nil {
		t.Fatal(err)
	}
	copied, err := os.Create(path + ".copy") // without the file's unused space
	if err == nil {
		_, err = s.WriteTo(copied)
	}
	if err = errors.Join(err, copied.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path + ".copy"
}

func TestCheckReportsTheContentsOfAFileAndChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path := filled(t)
	before, _ := os.ReadFile(path)
	found, err := bolt.Check(path)
	if err != nil || found["thing"] != 300 || found["tokens"] != 199 || found["revocations"] != 199 ||
		found["audit records"] != 300 {
		t.Errorf("Check() = %v, %v", found, err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("it has changed the file")
	}
}

// A circle of pages, and one far outside the file, would end the process if they were
// followed, so a missing bound shows as a crash of this test.
func TestCheckSurvivesWhateverIsInAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("damages a file many times")
	}
	path := filled(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := os.Getpagesize()
	random := rand.New(rand.NewPCG(11, 6))
	refused := 0
	const copies = 400
	for range copies {
		bad := bytes.Clone(good)
		page := 2 + random.IntN(len(bad)/size-2)
		switch random.IntN(3) {
		case 0: // in the head of a page and the places of its elements, where it hurts
			bad[page*size+random.IntN(200)] ^= byte(1 << random.IntN(8))
		case 1:
			copy(bad[page*size+8:], bad[(2+random.IntN(len(bad)/size-2))*size+8:][:size-8])
		default:
			for i := page * size; i < (page+1)*size; i++ {
				bad[i] = byte(random.Uint32())
			}
		}
		file := filepath.Join(t.TempDir(), "bad.db")
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bolt.Check(file); err != nil {
			refused++
		}
	}
	if refused < copies/4 { // the others hit free pages, and texts
		t.Errorf("%d of %d damaged files are refused", refused, copies)
	}
}

func TestCheckRefusesWhatIsNoDataFile(t *testing.T) {
	for name, content := range map[string][]byte{"empty": {}, "text": bytes.Repeat([]byte("text "), 9999)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := bolt.Check(path); err == nil {
			t.Errorf("%s: Check() = %v", name, found)
		}
	}
	if _, err := bolt.Check(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is well")
	}
}
