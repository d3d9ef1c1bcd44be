package powercut

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage/bolt"
)

// checker knows a recording, and what must be in an image of it.
type checker struct {
	*history
	disk     *disk
	calls    []*call
	answered map[string]int // where the answer to a request begins to leave
	parts    [][]int        // places to cut at, by the program that they are of
}

func newChecker(h *history) (*checker, error) {
	j := &checker{history: h, disk: newDisk(h.root), answered: map[string]int{}}
	var err error
	if j.calls, err = readTraces(h.traces); err != nil {
		return nil, err
	}
	left := h.left
	for _, c := range j.calls {
		if left, err = j.disk.hold(left, c.at); err != nil {
			return nil, err
		}
		if err := j.disk.play(c); err != nil {
			return nil, err
		}
		j.noteAnswer(c)
	}
	j.share()
	_, err = j.disk.hold(left, math.MaxInt64)
	return j, errors.Join(err, j.disk.same())
}

// share puts the places to cut at to the programs that were running there.
func (j *checker) share() {
	of := map[int]int{}
	for _, c := range j.calls {
		of[c.begin] = c.trace
	}
	slices.Sort(j.disk.events)
	j.parts = make([][]int, len(j.traces))
	for _, at := range j.disk.events {
		j.parts[of[at]] = append(j.parts[of[at]], at)
	}
	last := &j.parts[len(j.parts)-1]
	for range 1 + len(*last)/4 { // when all is done, which only the last acknowledgement has before it
		*last = append(*last, j.end())
	}
}

// end is the place behind all calls.
func (j *checker) end() int { return j.calls[len(j.calls)-1].begin + 1 }

const answerMark = "X-Request-Id: "

var hexedMark = hexed(answerMark)

// noteAnswer finds the moment at which an answer begins to leave.
func (j *checker) noteAnswer(c *call) {
	if c.name != "write" || !strings.Contains(c.path(0), "socket") {
		return
	}
	_, id, found := strings.Cut(c.args[1], hexedMark)
	if !found {
		return
	}
	id, _, _ = strings.Cut(string(plain(id[:min(len(id), 4*64)/4*4])), "\r\n")
	j.answered[id] = c.begin
	j.disk.events = append(j.disk.events, c.begin)
}

// place is the first call after a time.
func (j *checker) place(at int64) int {
	i, _ := slices.BinarySearchFunc(j.calls, at, func(c *call, at int64) int { return int(min(1, max(-1, c.at-at))) })
	if i == len(j.calls) {
		return j.end()
	}
	return j.calls[i].begin
}

func (j *checker) acknowledged(p promise, at int) bool {
	if p.id != "" {
		answered, left := j.answered[p.id]
		return left && answered < at
	}
	return j.place(p.done) < at
}

// draw chooses a cut: any place, or any place of any program, because some of them do little.
func (j *checker) draw(r *rand.Rand) cut {
	events := j.disk.events
	if r.IntN(2) == 0 {
		events = j.parts[r.IntN(len(j.parts))]
	}
	return cut{
		at: events[r.IntN(len(events))] + 1, fate: fate(r.IntN(int(fates) + 1)), rand: r,
		append: filepath.Join(j.data, "usage") + "/",
	}
}

// check makes one image in dir and looks at it.
func (j *checker) check(ctx context.Context, dir string, c cut) error {
	root := filepath.Join(dir, "disk")
	if err := c.make(j.disk, root); err != nil {
		return err
	}
	w := &world{Context: ctx, root: root, data: filepath.Join(root, "data"), backup: j.backup}
	begun := slices.ContainsFunc(j.promises, func(p promise) bool { return j.acknowledged(p, c.at) })
	if begun {
		if _, err := bolt.Check(filepath.Join(w.data, "keystile.db")); err != nil {
			return fmt.Errorf("the database's own check: %w", err)
		}
	}
	if err := w.serve(j.programs, func(server *serving.Client) error { return j.query(server, c) }); err != nil {
		return err
	}
	return w.use(func() error { return errors.Join(w.trail(), j.hold(w, c.at)) })
}

// era says which promises bind at a place, and whether a restore may or must have happened.
func (j *checker) era(at int) (may, must bool) {
	return j.restoring.begin > 0 && j.place(j.restoring.begin) < at, j.restoring.end > 0 && j.place(j.restoring.end) < at
}

func (j *checker) hold(w *world, at int) error {
	may, must := j.era(at)
	if !must {
		err := j.holdUpTo(w, at, 1)
		if err == nil || !may {
			return err
		}
	}
	if err := j.holdUpTo(w, at, 0); err != nil {
		return err
	}
	if must && w.app(j.later) == nil {
		return errors.New("the restore was acknowledged, and the database is the one from before")
	}
	return nil
}

func (j *checker) holdUpTo(w *world, at, era int) error {
	for _, p := range j.promises {
		if p.era > era || !j.acknowledged(p, at) {
			continue
		}
		if err := p.holds(w); err != nil {
			return fmt.Errorf("%s was acknowledged: %w", p.what, err)
		}
	}
	return nil
}

// query asks the program itself: about calls, and about a few of the tokens that have ended.
func (j *checker) query(server *serving.Client, c cut) error {
	may, _ := j.era(c.at)
	if bearer, left := j.answered[j.bearerID]; left && bearer < c.at {
		counted, err := counted(server, j.bearer)
		if err != nil {
			return err
		}
		if least, most := j.bounds(c.at); counted > most || counted < least && !may {
			return fmt.Errorf("%d calls are counted; %d were sent, and %d answered when the last second had not begun", counted,
				most, least)
		}
	}
	var ended []promise
	for _, p := range j.promises {
		if p.refused != "" && (p.era == 0 || !may) && j.acknowledged(p, c.at) {
			ended = append(ended, p)
		}
	}
	for range min(4, len(ended)) {
		if err := refuses(server, ended[c.rand.IntN(len(ended))]); err != nil {
			return err
		}
	}
	return nil
}

// atRisk is the last second, and what a busy machine takes to begin a sync and end it.
const atRisk = time.Second + 2500*time.Millisecond

// bounds returns the least and the largest number of calls that may be counted after a cut.
func (j *checker) bounds(at int) (least, most int) {
	i, _ := slices.BinarySearchFunc(j.calls, at, func(c *call, at int) int { return c.begin - at })
	now := j.calls[max(0, i-1)].at
	for _, c := range j.charges {
		if c.sent <= now {
			most++
		}
		if answered, left := j.answered[c.id]; left && answered < at && c.sent <= now-int64(atRisk) {
			least++
		}
	}
	return least, most
}

func makeFolder(path string) error { return os.Mkdir(path, 0o700) }
