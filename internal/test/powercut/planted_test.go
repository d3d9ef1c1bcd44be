package powercut

import (
	"testing"

	"github.com/keystile/keystile/internal/test/overlay"
)

// planted are faults that only a power cut shows, and what of a recording shows them. Each is
// one changed text in a program of its own.
var planted = map[string]struct {
	fault   overlay.Change
	steps   []step
	atStart bool // it shows in the first start alone, which is a small part of a recording
}{
	"the store does not sync": {
		overlay.Change{File: "storage/bolt/open.go", Old: "FreelistType:    bbolt.FreelistMapType,", New: "FreelistType: bbolt.FreelistMapType, NoSync: true,"},
		[]step{busy(3, 4)}, false,
	},
	"a new database has its name before it is synced": {
		overlay.Change{File: "storage/bolt/make.go", Old: "NoStatistics: true, OpenFile: openNoted", New: "NoStatistics: true, NoSync: true, OpenFile: openNoted"},
		[]step{busy(1, 1)}, true,
	},
	"the journal is not synced every second": {
		overlay.Change{File: "gateway/internal/ledger/sync.go", Old: "err = errors.Join(open.file.Sync(), l.journal.sync())", New: "err = errors.Join()"},
		[]step{busy(1, 1), charging}, false,
	},
	"the names in the journal's folder are not synced": {
		overlay.Change{File: "gateway/internal/ledger/sync.go", Old: "errors.Join(open.file.Sync(), l.journal.sync())", New: "errors.Join(open.file.Sync())"},
		[]step{busy(1, 1), charging}, false,
	},
	"a key file takes its name, and its folder is not synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/write.go", Old: "return syncDir(filepath.Dir(path))", New: "return nil"},
		[]step{busy(1, 1), rekey}, false,
	},
	"a key file takes its name before it is synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/write.go", Old: "temp.Sync(), ", New: ""},
		[]step{busy(1, 1), rekey}, false,
	},
	"a restored database takes its name, and its folder is not synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/restore.go", Old: "return kept, syncDir(f.path)", New: "return kept, nil"},
		[]step{busy(1, 1), backup, busy(1, 1), restore}, false,
	},
	"the data folder is made, and the one it is in is not synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/folder.go", Old: "synced := syncDir(filepath.Dir(path))", New: "synced := error(nil)"},
		[]step{busy(1, 1)}, false,
	},
}

func TestAFaultThatLosesASyncIsFound(t *testing.T) {
	traceable(t)
	seed := seed(t)
	t.Logf("note: POWERCUT_SEED=%d draws the same cuts", seed)
	sound, _ := programs(t)
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := overlay.Build(t.Context(), t.TempDir(), p.fault, slowFlush)
			if err != nil {
				t.Fatal(err)
			}
			j := recorded(t, program, program, p.steps...)
			if p.atStart {
				j.beginning()
			}
			j.plain = sound // the images are opened by a program without the fault
			made, errs := j.look(t, seed, 1000, 1)
			if len(errs) == 0 {
				t.Fatalf("%d images do not show it", made)
			}
			t.Logf("note: found in image %d: %.200s", made, errs[0])
		})
	}
}
