package planted

import (
	"bytes"
	"os"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// logBug is a mistake that somebody could make in the token log.
type logBug struct{ name, file, old, new string }

const (
	block  = "storage/bolt/internal/tokenlog/block.go"
	logs   = "storage/bolt/internal/tokenlog/log.go"
	reads  = "storage/bolt/internal/tokenlog/read.go"
	log    = "storage/bolt/log.go"
	marks  = "storage/bolt/logmark.go"
	table  = "storage/bolt/tokentable.go"
	writer = "storage/bolt/writer.go"
	store  = "storage/bolt/store.go"
)

var logBugs = []logBug{
	{"a block may share a page with the one before", block,
		"if over := len(b) % page; over != 0 {",
		"if over := len(b) % 512; over != 0 {"},
	{"the sum leaves out the head", block,
		"== sum(c.bytes[4:])",
		"== sum(c.bytes[headSize:])"},
	{"the sum is not looked at", block,
		"return c, binary.BigEndian.Uint32(b) == sum",
		"return c, true || binary.BigEndian.Uint32(b) == sum"},
	{"a block of another log counts", block, "|| ID(b[12:28]) != id {", "|| false && ID(b[12:28]) != id {"},
	{"a size that is behind the end is read", block, "pages == 0 || uint64(pages)*page > uint64(len(b))", "pages == 0"},
	{"a token is never new when it is read", block, "r.New, r.Key, b = b[0] == 1,", "r.New, r.Key, b = b[0] == 7,"},
	{"every token is new when it is written", block, "isNew := byte(0)", "isNew := byte(1)"},
	{"a block is not flushed", logs, "if err := l.file.Flush(); err != nil {", "if err := error(nil); err != nil {"},
	{"a failed flush is not told", logs, "return fmt.Errorf(\"the token log cannot be flushed: %w\", err)", "return nil"},
	{"a failed write is not told", logs, "return fmt.Errorf(\"the token log cannot be written: %w\", err)", "return nil"},
	{"a new log is not flushed", logs, "return l, f.Flush()", "return l, nil"},
	{"a block goes on behind those that the file has", logs, "at, next.number = page, 1", "next.number = 1"},
	{"the numbers go on behind a transaction", logs, "at, next.number = page, 1", "at = page"},
	{"each block is written over the one before", logs,
		"l.at, l.last = at+int64(len(l.buf)), next",
		"l.at, l.last = at, next"},
	{"a log grows behind its end", logs, "if int64(len(l.buf)) > Size-at {", "if false {"},
	{"a full log overwrites its front", logs, "return ErrFull", "at = page"},
	{"all logs have one ID", logs, "rand.Read(l.last.id[:])", "rand.Read(nil)"},
	{"blocks that the file has are read", reads,
		"if !whole || b.place != next {",
		"if !whole || b.number != next.number {"},
	{"a hole in the numbers is read over", reads, "if !whole || b.place != next {", "if !whole || b.base != base {"},
	{"a damaged block ends the log", reads, "case whole && b.base == base:", "case false:"},
	{"a log ahead of its file is forgotten", reads, "case whole && b.base > base:", "case false:"},
	{"a log of zeros is an empty one", reads, "if !own && next.number == 1 {", "if false {"},
	{"a missing log is an empty one", reads, "return nil, ErrMissing\n", "return nil, nil\n"},
	{"a log that is cut off is read", reads, "case len(all) != Size:", "case false:"},
	{"only the first block is read", reads, "		next.number++\n	}", "		next.number++\n		break\n	}"},
	{"Token does not look into the log", log, "return logged{l.rows[key].Value, l.base}", "return logged{}"},
	{"Token trusts the log behind a transaction", log,
		"if g.value != nil && g.base == uint64(tx.ID()) {",
		"if g.value != nil {"},
	{"Sweep and Rows do not wait for the log", log,
		"	if s.log.empty() {\n		return nil\n	}\n	return s.send(ctx, &job{})",
		"	return nil"},
	{"jobs of other kinds go to the log", log,
		"slices.ContainsFunc(batch, func(j *job) bool { return j.tokens == nil })",
		"len(batch) == 0"},
	{"a log without a mark is written to", log,
		"if l == nil || !l.marked || l.givenUp",
		"if l == nil || l.log == nil || l.givenUp"},
	{"a log that failed is written to", log, "l.givenUp = !errors.Is(err, tokenlog.ErrFull)", "l.givenUp = false"},
	{"a log that is full is given up", log, "l.givenUp = !errors.Is(err, tokenlog.ErrFull)", "l.givenUp = true"},
	{"a batch that is not in the log is answered", log,
		"			l.givenUp = !errors.Is(err, tokenlog.ErrFull)\n			return false\n",
		"			l.givenUp = !errors.Is(err, tokenlog.ErrFull)\n"},
	{"a broken store goes on in the log", log, "|| l.givenUp || s.broken != nil ||", "|| l.givenUp ||"},
	{"the log grows for ever", log, "|| len(l.rows) >= mostLogged ||", "||"},
	{"a batch begins with what the last one wrote", log, "	clear(d.values)\n", ""},
	{"rows are in the log and nobody sees them", log, "		l.rows[r.Key] = r\n", ""},
	{"a new token that is spent is not new any more", log,
		"r.New = r.New || l.rows[r.Key].New",
		"r.New = r.New && !l.rows[r.Key].New"},
	{"nothing is due", log, "	if l.timer == nil {\n		l.timer = time.NewTimer(l.age)\n	}\n", ""},
	{"what is due waits for the next row", log,
		"	if l.timer == nil {\n		l.timer = time.NewTimer(l.age)\n	}\n",
		"	l.stop()\n	l.timer = time.NewTimer(l.age)\n"},
	{"a transaction does not take in the log", log,
		"	if l == nil || len(l.rows) == 0 {\n		return false, nil",
		"	if true {\n		return false, nil"},
	{"the rows of a transaction stay in the log", log, "	clear(l.rows)\n", ""},
	{"a copy is made while the log has rows", writer,
		"	changed, err := s.log.fold(tx)\n",
		"	changed, err := false, error(nil)\n	if !batch[0].whole {\n		changed, err = s.log.fold(tx)\n	}\n"},
	{"a copy says that there is a log", log, "case l.marked && (whole || l.givenUp):", "case l.marked && l.givenUp:"},
	{"a log that is given up stays", log, "case l.marked && (whole || l.givenUp):", "case l.marked && whole:"},
	{"a refusal makes a log", log, "!tokens || !changed:", "(!tokens || !changed) && false:"},
	{"a log that cannot be made fails the batch", log,
		"		l.givenUp = true\n		return false, false, nil",
		"		return false, false, err"},
	{"Close leaves the log", log, "if l.marked && s.broken == nil {", "if false {"},
	{"a closed store leaves its file", log, "	if l.log != nil && !l.marked {", "	if false {"},
	{"the log is not marked", log, "return true, true, mark(tx, l.log.ID())", "return true, true, nil"},
	{"the mark is one that the version before knows", marks, "openMark  = 1000", "openMark  = 0"},
	{"the mark leaves the layout", marks,
		"about.Put(layoutKey, []byte(strconv.Itoa(l.taken+openMark)))",
		"about.Put(layoutKey, []byte(strconv.Itoa(l.taken)))"},
	{"the mark forgets since when", marks, "about.Put(markKey, append(id[:], l.since...))", "about.Put(markKey, id[:])"},
	{"the mark stays", marks,
		"		return errors.Join(err, about.Put(layoutKey, []byte(strconv.Itoa(l.taken))))",
		"		return err"},
	{"the log is not replayed", marks,
		"				for _, r := range rows {\n					if err := table.put(r); err != nil {\n						return err\n					}\n				}\n",
		""},
	{"the log is replayed and stays marked", marks, "				return unmark(tx)", "				return nil"},
	{"a log is replayed that has a row which nobody wrote", marks,
		"if _, damaged := openToken(r.Key[:], r.Value); damaged != nil {",
		"if damaged := error(nil); damaged != nil {"},
	{"the log of an earlier life is left", marks, "	os.Remove(path + LogSuffix) // nothing in it counts any more\n", ""},
	{"a spent token is found unspent in its batch", table,
		"if value := d.values[key]; value != nil {",
		"if value := []byte(nil); value != nil {"},
	{"a token in the log can be issued again", table,
		"if value := t.draft.value(key); value != nil {",
		"if value := []byte(nil); value != nil {"},
	{"a token of the log never ends", table, "return noteEnd(t.tx, end, aToken, r.Key[:])", "return nil"},
	{"a batch is halved though the log is to blame", writer,
		"s.broken == nil && !errors.Is(err, errFold)",
		"s.broken == nil"},
	{"a copy is begun behind the next batch", writer,
		"		} else if j.then != nil {\n			j.verdict = j.then()\n",
		"		} else if then := j.then; then != nil {\n			s.log.marked = true\n			j.verdict = then()\n"},
	{"a log is read only as if it had nothing", "storage/bolt/step.go", "	if l.logged {\n", "	if false {\n"},
	{"Check does not look into the log", "storage/bolt/check.go",
		"	rows, _, err := leftInLog(db, realPath(path))\n",
		"	var rows []tokenlog.Row\n	_ = tokenlog.Row{}\n"},
	{"the writer ends without its log", writer, "			s.ending = s.log.end(s)\n", ""},
	{"the log is never asked for", store, "	if opts.TokenLog {", "	if opts.TokenLog && false {"},
}

// TestPlantedBugsBeforeTheTokenLog plants each of them in a build of its own, and has the tests of the adapter look for
// it.
// KEYSTILE_LOG_BUG names one that is planted alone.
func TestPlantedBugsBeforeTheTokenLog(t *testing.T) {
	if testing.Short() {
		t.Skip("some 60 builds")
	}
	for _, b := range logBugs {
		t.Run(b.name, func(t *testing.T) {
			if only := os.Getenv("KEYSTILE_LOG_BUG"); only != "" && only != b.name {
				t.Skip("another one is asked for")
			}
			t.Parallel()
			out, err := overlay.Test(t.Context(), t.TempDir(), "./storage/bolt/...",
				[]string{"-short", "-failfast", "-count=1", "-timeout=10m"}, overlay.Change{File: b.file, Old: b.old, New: b.new})
			switch {
			case err == nil:
				t.Error("no test finds it")
			case !bytes.Contains(out, []byte("--- FAIL: ")) && !bytes.Contains(out, []byte("panic: ")):
				t.Errorf("it cannot be built: %v\n%s", err, out)
			default:
				at := bytes.Index(out, []byte("--- FAIL: "))
				line, _, _ := bytes.Cut(out[max(at, 0):], []byte("\n"))
				t.Logf("note: found by %s", line)
			}
		})
	}
}

func TestBugsOfTheTokenLogFitTheSources(t *testing.T) {
	for _, b := range logBugs {
		if err := overlay.Fits(t.Context(), overlay.Change{File: b.file, Old: b.old, New: b.new}); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
