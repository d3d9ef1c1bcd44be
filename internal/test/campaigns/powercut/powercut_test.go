package powercut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// slowFlush keeps calls in the journal for longer than a second, as a store does that is away.
var slowFlush = overlay.Change{File: "gateway/internal/ledger/ledger.go", Old: "l.every = time.Second",
	New: "l.every = time.Minute"}

// images returns how many disks are looked at. Each run draws other cuts, so a few hundred a run
// become thousands in a week; POWERCUT_IMAGES=2000 asks for more at once.
func images(t *testing.T) int {
	t.Helper()
	text := cmp.Or(os.Getenv("POWERCUT_IMAGES"), "250")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("POWERCUT_IMAGES=%s: want a number of disks", text)
	}
	return n
}

// told has each store into the mapped journal be seen: the bytes that were stored are written to where
// they are, which changes nothing.
var told = overlay.Change{
	File: "gateway/internal/ledger/mapping_linux.go", Old: "	commit(m.data, m.at, record[0])\n",
	New: "	commit(m.data, m.at, record[0])\n	if _, err := m.file.WriteAt(record, int64(m.at)); err != nil {\n" +
		"		panic(err)\n	}\n",
}

// unmapped has each call be written, as where a journal cannot be mapped.
var unmapped = overlay.Change{File: "gateway/internal/ledger/journal.go", Old: "	j.maps.Store(true)\n", New: ""}

func traceable(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	if err := Traceable(t.Context()); err != nil {
		t.Skip(err)
	}
}

func seed(t *testing.T) uint64 {
	t.Helper()
	if text := os.Getenv("POWERCUT_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return rand.Uint64()
}

var built = sync.OnceValues(func() (p programs, err error) {
	for to, changes := range map[*string][]overlay.Change{&p.plain: {told}, &p.slow: {told, slowFlush},
		&p.written: {unmapped, slowFlush}} {
		dir, err := os.MkdirTemp(scratch, "")
		if err != nil {
			return p, err
		}
		if *to, err = overlay.Build(context.Background(), dir, changes...); err != nil {
			return p, err
		}
	}
	return p, nil
})

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "keystile-powercut-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

func builds(t *testing.T) programs {
	t.Helper()
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func recorded(t *testing.T, p programs, steps ...step) *checker {
	t.Helper()
	j, err := newChecker(historyOf(t, p, steps...))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func historyOf(t *testing.T, p programs, steps ...step) *history {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "") // a socket's path must be short, and that of t.TempDir has the test's name
	if err != nil {
		t.Fatal(err)
	}
	h, err := record(t.Context(), dir, p, steps...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPowerCutTakesNothingThatWasAcknowledged(t *testing.T) { looked(t) }

func TestPowerCutTakesNothingWithoutATokenLog(t *testing.T) { looked(t, unlogged...) }

// looked makes a recording of everything, of a service that is started with args, and looks at its images.
func looked(t *testing.T, args ...string) {
	t.Helper()
	traceable(t)
	seed := seed(t)
	p := builds(t)
	p.args = args
	j := recorded(t, p, everything...)
	t.Logf("note: %d images of %d calls, %d acknowledgements, %d charged calls; POWERCUT_SEED=%d draws the same cuts",
		images(t), len(j.disk.events), len(j.promises), len(j.charges), seed)
	made, errs := j.look(t, seed, images(t), 10)
	for _, err := range errs {
		t.Error(err)
	}
	if made < images(t) && len(errs) == 0 {
		t.Errorf("%d images were looked at", made)
	}
}

// The program as it is shipped stores what no trace shows, and its recording is not taken.
func TestStoresThatAreNotToldAreNoticed(t *testing.T) {
	traceable(t)
	program, err := overlay.Build(t.Context(), t.TempDir(), slowFlush)
	if err != nil {
		t.Fatal(err)
	}
	h := historyOf(t, programs{plain: program, slow: program, written: program}, busy(1, 1), charging)
	if _, err := newChecker(h); err == nil || !strings.Contains(err.Error(), "mapped true, has other contents") {
		t.Errorf("newChecker(a mapped journal that nobody tells of) = %v, want that the trace is not all", err)
	}
}

// A first start that is cut off anywhere leaves a folder that the next one starts on.
func TestFirstStartThatIsCutOffIsBegunAgain(t *testing.T) {
	traceable(t)
	seed := seed(t)
	j := recorded(t, builds(t), busy(1, 1))
	j.beginning()
	t.Logf("note: %d moments; POWERCUT_SEED=%d draws the same cuts", len(j.disk.events), seed)
	made, errs := j.look(t, seed, images(t), 10)
	for _, err := range errs {
		t.Error(err)
	}
	if made < images(t) && len(errs) == 0 || len(j.disk.events) < 20 {
		t.Errorf("%d images of %d moments were looked at", made, len(j.disk.events))
	}
}

// beginning has the cuts fall into the first start alone, before anything is acknowledged.
func (j *checker) beginning() {
	j.disk.events = slices.DeleteFunc(j.disk.events, func(at int) bool {
		return slices.ContainsFunc(j.promises, func(p promise) bool { return j.acknowledged(p, at+1) })
	})
	j.parts = [][]int{j.disk.events}
}

// look makes images until there are enough, or so many of them are wrong.
func (j *checker) look(t *testing.T, seed uint64, images, most int) (made int, errs []error) {
	t.Helper()
	var next atomic.Int64
	var mu sync.Mutex
	var all sync.WaitGroup
	dir, err := os.MkdirTemp(scratch, "")
	if err != nil {
		t.Fatal(err)
	}
	for range runtime.NumCPU() + 1 {
		all.Go(func() {
			for {
				n := int(next.Add(1))
				mu.Lock()
				enough := n > images || len(errs) >= most
				mu.Unlock()
				if enough {
					return
				}
				cut := j.draw(rand.New(rand.NewPCG(seed, uint64(n))))
				err := j.one(t.Context(), filepath.Join(dir, strconv.Itoa(n)), cut)
				mu.Lock()
				made++
				if err != nil {
					errs = append(errs, fmt.Errorf("image %d, %v: %w", n, cut, err))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return made, errs
}

func (j *checker) one(ctx context.Context, dir string, cut cut) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(j.check(ctx, dir, cut), os.RemoveAll(dir))
}
