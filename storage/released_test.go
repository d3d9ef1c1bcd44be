package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/released"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// wholly reads a document, and fails if it has a field that nobody knows.
func (k kind[T]) wholly(s *Store, d driver.Doc) error {
	v, err := k.record(s, d)
	if err != nil {
		return err
	}
	if id := k.id(v); id != d.ID {
		return fmt.Errorf("its id is %q, and it is at %q", id, d.ID)
	}
	text, _, _ := bytes.Cut(d.Data, newline)
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	var known T
	if err := strict.Decode(&known); err != nil {
		return fmt.Errorf("a field of it is read no more (give it another name only beside the old one): %w", err)
	}
	return nil
}

// readers returns all kinds by name. That none is missing is seen in carried_test.go.
func readers() map[string]KindForTest {
	all := map[string]KindForTest{}
	for _, k := range KindsForTest() {
		all[k.NameForTest()] = k
	}
	return all
}

// others are kinds that are not typed documents: the digest of the master key, which Open checks, and the index
// of the audit trail, which is in a form of its own and is made again where a version does not know it.
var others = []string{"master", trailIndexKind}

// notKept are kinds that the data of the last release does not have, and why.
var notKept = map[string]string{
	"probe":     "it is written where nothing else was for some seconds",
	"heldtools": "what upstreams have changed is held since the version after v0.1.0",
	"epoch":     "it is kept where several processes share the store: internal/test/campaigns/upgrade swaps versions there",
}

// Whatever a release has written is read by every later version, field by field.
func TestEveryRecordOfEveryReleaseIsRead(t *testing.T) {
	versions, err := released.Versions()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			store, backend := openReleased(t, version)
			found, readers := map[string]int{}, readers()
			for d := range documents(t, backend) {
				found[d.Kind]++
				if slices.Contains(others, d.Kind) {
					continue
				}
				if readers[d.Kind] == nil {
					t.Errorf("a document of kind %q is read by nobody", d.Kind)
				} else if err := readers[d.Kind].wholly(store, d); err != nil {
					t.Errorf("%s %q: %v", d.Kind, d.ID, err)
				}
			}
			if version != versions[len(versions)-1] {
				return
			}
			for kind := range readers {
				if found[kind] == 0 && notKept[kind] == "" {
					t.Errorf("there is no document of kind %q: have internal/test/campaigns/upgrade make one for the next release, and until then say so in notKept", kind)
				}
			}
		})
	}
}

func openReleased(t *testing.T, version string) (*Store, *bolt.Store) {
	t.Helper()
	dir := t.TempDir()
	if err := released.Unpack(version, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseMasterKey(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	backend, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	store, err := Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	return store, backend
}

func documents(t *testing.T, from transfer.Adapter) func(yield func(driver.Doc) bool) {
	return func(yield func(driver.Doc) bool) {
		var after []byte
		for {
			rows, err := from.Rows(context.Background(), transfer.Documents, after, transfer.PageRows)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				d, err := row.Doc()
				if err != nil {
					t.Fatal(err)
				}
				if after = row.Key; !yield(d) {
					return
				}
			}
			if len(rows) == 0 {
				return
			}
		}
	}
}
