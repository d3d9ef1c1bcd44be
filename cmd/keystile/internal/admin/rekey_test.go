package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

func TestRekeyMovesEverythingToANewKeyAndPutsTheOldOneAway(t *testing.T) {
	for _, served := range []bool{false, true} {
		s := newSafe(t, served)
		old := s.firstKey()
		v := s.must("key", "rekey")
		fresh := s.firstKey()
		if v["master_key"] != fresh || fresh == old || v["documents"] != 3.0 {
			t.Errorf("served %t: from %s to %s, printed %v", served, old, fresh, v)
		}
		retired := s.keyFile() + ".retired-" + old
		if key, err := folder.ReadKey(retired); err != nil || key.ID() != old || fmt.Sprint(v["retired"]) != "["+retired+"]" {
			t.Errorf("the old key is in %v: %s, %v", v["retired"], key.ID(), err)
		}
		if info, err := os.Stat(s.keyFile()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key file is %v, %v", info, err)
		}
		var acts []string
		for _, e := range s.trail {
			acts = append(acts, e.Detail)
		}
		if said := strings.Join(acts, "; "); !strings.Contains(said,
			"key rekey begins "+fresh+" by "+admin.CommandLine().Name()+": master key ") ||
			!strings.HasSuffix(said, "-> "+fresh+"; key rekey "+fresh+" by "+admin.CommandLine().Name()) {
			t.Errorf("the trail says %s", said)
		}
		s.wantReadable(1)
	}
}

// At whatever write it is cut, before it or right behind it: what the key file holds then
// opens everything, and the same command ends what was begun, with the same key.
func TestRekeyThatIsCutAnywhereIsTakenUp(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			s := newSafe(t, false)
			old := s.firstKey()
			s.backend.left, s.backend.behind = n, behind
			code, _, errs := s.run("", "key", "rekey")
			if code == 0 {
				if n < 5 {
					t.Fatalf("a rekey has only %d writes: the test looks at the wrong thing", n-1)
				}
				break
			}
			s.backend.left = -1
			fresh := s.firstKey()
			s.wantReadable(0)
			if begun, err := rekeying(t.Context(), s.target.Store, s.firstStored()); err != nil {
				t.Fatal(err)
			} else if !begun && behind && n > 3 {
				continue // behind the last write there is nothing left to do
			}
			v := s.must("key", "rekey")
			if v["master_key"] != fresh || fresh == old {
				t.Errorf("cut at write %d (%s) with key %s, it went on with %v", n, errs, fresh, v["master_key"])
			}
			s.wantReadable(1)
		}
	}
}

func TestKeyFileThatCannotBeWrittenLosesNothing(t *testing.T) {
	s := newSafe(t, false)
	old := s.firstKey()
	inTheWay := s.keyFile() + ".retired-" + old
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.wantFailure(1, "cannot be taken out of", "key", "rekey")
	fresh := s.firstKey()
	s.wantReadable(2)
	os.RemoveAll(inTheWay)
	if v := s.must("key", "rekey"); v["master_key"] != fresh || v["documents"] != 0.0 {
		t.Errorf("it went on with %v, not with %s", v, fresh)
	}
	s.wantReadable(1)
}

func TestOldKeyStaysInTheFileIfItIsWanted(t *testing.T) {
	s := newSafe(t, true)
	old := s.firstKey()
	s.must("key", "rekey", "--keep-old")
	s.wantReadable(2)
	states := map[any]any{}
	for _, row := range s.rows("key", "list") {
		if row["alg"] == "A256GCM" {
			states[row["kid"]] = row["state"]
		}
	}
	if len(states) != 2 || states[s.firstKey()] != "seals" || states[old] != "opens" {
		t.Errorf("listed are %v", states)
	}
	s.must("key", "rekey") // another change, which puts both away
	s.wantReadable(1)
}

func TestNewMasterKeyMayComeFromAFile(t *testing.T) {
	s := newSafe(t, true)
	fresh := storage.NewMasterKey()
	file := filepath.Join(t.TempDir(), "new.key")
	os.WriteFile(file, []byte(fresh.Text()), 0o644)
	s.wantFailure(1, "chmod 600", "key", "rekey", "--new-key-file", file)
	os.Chmod(file, 0o600)
	if v := s.must("key", "rekey", "--new-key-file", file); v["master_key"] != fresh.ID() {
		t.Errorf("printed %v", v)
	}
	s.wantFailure(1, "is in use already", "key", "rekey", "--new-key-file", file)
	s.wantReadable(1)
	if _, out, errs := s.run("", "key", "list"); strings.Contains(out+errs+s.log.String(), fresh.Text()) {
		t.Error("the key is shown")
	}
}

func TestRekeyThatHasBegunRefusesAnotherKey(t *testing.T) {
	s := newSafe(t, false)
	s.backend.left = 2
	s.wantFailure(1, "run this again", "key", "rekey")
	s.backend.left = -1
	file := filepath.Join(t.TempDir(), "new.key")
	os.WriteFile(file, []byte(storage.NewMasterKey().Text()), 0o600)
	s.wantFailure(1, "has begun: end it first", "key", "rekey", "--new-key-file", file)
}

// The operator turns the key: the command seals, and says what is left to do.
func TestKeysOfTheEnvironmentAreTurnedByTheOperator(t *testing.T) {
	s := newSafe(t, false)
	old, _, err := s.target.Keys.Read()
	if err != nil {
		t.Fatal(err)
	}
	fresh := storage.NewMasterKey()
	s.conf.MasterKeys = old
	s.start()
	s.wantFailure(1, "put it in front of the present one with a comma", "key", "rekey")
	s.conf.MasterKeys = []storage.MasterKey{fresh, old[0]}
	s.start()
	if v := s.must("key", "rekey"); v["master_key"] != fresh.ID() ||
		!strings.Contains(v["note"].(string), "Take the other keys out of KEYSTILE_MASTER_KEY") {
		t.Errorf("printed %v", v)
	}
	s.conf.MasterKeys = []storage.MasterKey{fresh}
	s.wantReadable(1)
	if text, err := os.ReadFile(s.keyFile()); err != nil || strings.TrimSpace(string(text)) != old[0].Text() {
		t.Errorf("the key file was touched, %v", err)
	}
}

func TestRekeyThatTheTrailCannotHoldDoesNotBegin(t *testing.T) {
	s := newSafe(t, false)
	before := s.firstKey()
	s.unwritten = errLocked
	s.wantFailure(1, "nothing was changed", "key", "rekey")
	if after := s.firstKey(); after != before {
		t.Errorf("the key is %s, was %s", after, before)
	}
}

func TestRekeysAtOnceAreOne(t *testing.T) {
	s := newSafe(t, true)
	s.target.Keys.busy.Lock()
	s.wantFailure(1, "being changed at this moment", "key", "rekey")
	s.target.Keys.busy.Unlock()
	s.must("key", "rekey")
}
