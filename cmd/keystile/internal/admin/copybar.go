package admin

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/storage/transfer"
)

// copyBar shows how far a copy is: a bar on a terminal, a line for each table elsewhere, and nothing
// where the answer is JSON.
type copyBar struct {
	w       io.Writer
	redraws bool
	dry     bool
	begun   time.Time
	drawn   time.Time
	at      transfer.Progress
}

func newCopyBar(call cli.Call, dry bool) *copyBar {
	b := &copyBar{w: call.Stderr, redraws: terminal.Is(call.Stderr), dry: dry, begun: time.Now()}
	if call.On("json") && !b.redraws {
		b.w = io.Discard
	}
	return b
}

// show draws the bar ten times a second at most. Where there is none, it writes a table's line when
// the next one begins.
func (b *copyBar) show(p transfer.Progress) {
	if b.at.Table != "" && (b.at.Table != p.Table || b.at.Verifying != p.Verifying) {
		b.line()
	}
	b.at = p
	if b.redraws && time.Since(b.drawn) > 100*time.Millisecond {
		b.drawn = time.Now()
		fmt.Fprintf(b.w, "\r\x1b[K%s", b.draw())
	}
}

// barWidth counts the cells of a bar: two for each table, one for copying and one for verifying.
const barWidth = 28

func (b *copyBar) draw() string {
	tables := transfer.Tables()
	steps, done := 2*len(tables), slices.Index(tables, b.at.Table)
	if b.dry {
		steps = len(tables)
	}
	if b.at.Verifying {
		done += len(tables)
	}
	full := barWidth * done / steps
	return fmt.Sprintf("[%s%s] %2d/%d %s %s, %d written, %s", strings.Repeat("#", full),
		strings.Repeat("-", barWidth-full),
		done+1, steps, b.verb(), plural(b.at.Rows, b.at.Table), b.at.Written, time.Since(b.begun).Round(time.Second))
}

func (b *copyBar) verb() string {
	switch {
	case b.at.Verifying:
		return "verifying"
	case b.dry:
		return "comparing"
	}
	return "copying"
}

func plural(rows int, table transfer.Table) string { return fmt.Sprintf("%s: %d rows", table, rows) }

func (b *copyBar) line() {
	if !b.redraws {
		fmt.Fprintf(b.w, "keystile: %s %s, %d written, %d removed\n", b.verb(), plural(b.at.Rows, b.at.Table), b.at.Written,
			b.at.Removed)
	}
}

// end takes the bar away.
func (b *copyBar) end() {
	if b.redraws {
		fmt.Fprint(b.w, "\r\x1b[K")
	} else if b.at.Table != "" {
		b.line()
	}
}
