package powercut

import (
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// planted are faults that only a power cut shows, and what of a recording shows them. Each is
// one changed text in a program of its own.
var planted = map[string]struct {
	fault   overlay.Change
	steps   []step
	atStart bool             // it shows in the first start alone, which is a small part of a recording
	also    []overlay.Change // that are no faults
	args    []string         // of the server
}{
	"the store does not sync": {
		overlay.Change{File: "storage/bolt/open.go", Old: "FreelistType:    bbolt.FreelistMapType,",
			New: "FreelistType: bbolt.FreelistMapType, NoSync: true,"},
		[]step{busy(3, 4)}, false, mapped, unlogged,
	},
	"a new database has its name before it is synced": {
		overlay.Change{File: "storage/bolt/make.go", Old: "NoStatistics: true,\n\t\tOpenFile: f.openNoted",
			New: "NoStatistics: true, NoSync: true,\n\t\tOpenFile: f.openNoted"},
		[]step{busy(1, 1)}, true, mapped, nil,
	},
	"the journal is not synced every second": {
		overlay.Change{File: "gateway/internal/ledger/sync.go", Old: "err = errors.Join(open.file.Sync(), l.journal.sync())",
			New: "err = errors.Join()"},
		[]step{busy(1, 1), charging}, false, mapped, nil,
	},
	"the journal is not synced every second, and written": {
		overlay.Change{File: "gateway/internal/ledger/sync.go", Old: "err = errors.Join(open.file.Sync(), l.journal.sync())",
			New: "err = errors.Join()"},
		[]step{busy(1, 1), writing}, false, []overlay.Change{unmapped}, nil,
	},
	"a mapped journal is said to be synced, and is not": {
		overlay.Change{File: "gateway/internal/ledger/mapping_linux.go", Old: "return m.file.Sync()", New: "return nil"},
		[]step{busy(1, 1), charging}, false, mapped, nil,
	},
	"the names in the journal's folder are not synced": {
		overlay.Change{File: "gateway/internal/ledger/sync.go", Old: "errors.Join(open.file.Sync(), l.journal.sync())",
			New: "errors.Join(open.file.Sync())"},
		[]step{busy(1, 1), charging}, false, mapped, nil,
	},
	"a key file takes its name, and its folder is not synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/write.go", Old: "return syncDir(filepath.Dir(path))",
			New: "return nil"},
		[]step{busy(1, 1), rekey}, false, mapped, nil,
	},
	"a key file takes its name before it is synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/write.go", Old: "temp.Sync(), ", New: ""},
		[]step{busy(1, 1), rekey}, false, mapped, nil,
	},
	"a restored database takes its name, and its folder is not synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/restore.go", Old: "return kept, syncDir(f.path)",
			New: "return kept, nil"},
		[]step{busy(1, 1), backup, busy(1, 1), restore}, false, mapped, nil,
	},
	"the data folder is made, and the one it is in is not synced": {
		overlay.Change{File: "cmd/keystile/internal/folder/folder.go", Old: "synced := syncDir(filepath.Dir(path))",
			New: "synced := error(nil)"},
		[]step{busy(1, 1)}, false, mapped, nil,
	},
	"the token log is written and not flushed": {
		overlay.Change{File: "storage/bolt/internal/tokenlog/log.go",
			Old: "	if err := l.file.Flush(); err != nil {\n		return fmt.Errorf(\"the token log cannot be flushed",
			New: "	if err := error(nil); err != nil {\n		return fmt.Errorf(\"the token log cannot be flushed"},
		[]step{busy(3, 4)}, false, mapped, nil,
	},
	"the token log has no name that is on the disk": {
		overlay.Change{File: "storage/bolt/log.go", Old: "		err = syncFolder(l.path)\n", New: "		err = nil\n"},
		[]step{busy(3, 4)}, false, mapped, nil,
	},
	"the token log is begun and its first page is not on the disk": {
		overlay.Change{File: "storage/bolt/internal/tokenlog/log.go", Old: "return l, f.Flush()", New: "return l, nil"},
		[]step{busy(3, 4)}, false, mapped, nil,
	},
}

var mapped = []overlay.Change{told}

func TestFaultThatLosesASyncIsFound(t *testing.T) {
	traceable(t)
	seed := seed(t)
	t.Logf("note: POWERCUT_SEED=%d draws the same cuts", seed)
	sound := builds(t).plain
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := overlay.Build(t.Context(), t.TempDir(), append(p.also, p.fault, slowFlush)...)
			if err != nil {
				t.Fatal(err)
			}
			j := recorded(t, programs{plain: program, slow: program, written: program, args: p.args}, p.steps...)
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
