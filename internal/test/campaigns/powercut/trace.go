package powercut

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// call is one system call of a traced program. Its places are line numbers of all traces
// together: it took effect somewhere between the two, and whatever it caused begins later.
type call struct {
	begin, end int // end is unreturned while it had not returned when the trace ended
	trace      int
	at         int64 // nanoseconds since 1970
	name       string
	args       []string
	result     string
}

const unreturned = math.MaxInt

func (c *call) failed() bool { return strings.HasPrefix(c.result, "-1") }

// line is one line of one trace, with its time.
type line struct {
	trace int
	at    int64
	text  string
	pid   string
}

// readTraces puts the traces of several processes into one order, that of their times.
func readTraces(paths []string) ([]*call, error) {
	var lines []line
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		last := int64(0)
		for row := range bytes.Lines(text) {
			parts := strings.SplitN(strings.TrimSuffix(string(row), "\n"), " ", 2)
			if len(parts) != 2 {
				return nil, fmt.Errorf("%s: a line that is not understood: %.100q", path, row)
			}
			when, rest, _ := strings.Cut(strings.TrimLeft(parts[1], " "), " ")
			at, err := strconv.ParseInt(strings.Replace(when, ".", "", 1), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: a line without its time: %.100q", path, row)
			}
			last = max(last, at) // the lines of a trace are in order, whatever the clock does
			lines = append(lines, line{i, last, rest, parts[0]})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	return callsOf(lines)
}

// callsOf joins the two lines of a call that another thread's line came between.
func callsOf(lines []line) (calls []*call, err error) {
	type thread struct {
		trace int
		pid   string
	}
	waiting := map[thread]*call{}
	heads := map[thread]string{}
	for i, l := range lines {
		who := thread{l.trace, l.pid}
		if strings.HasPrefix(l.text, "---") || strings.HasPrefix(l.text, "+++") {
			continue
		}
		if head, ok := strings.CutSuffix(l.text, "<unfinished ...>"); ok {
			c := &call{begin: i, end: unreturned, trace: l.trace, at: l.at}
			waiting[who], heads[who] = c, strings.TrimRight(head, " ")
			calls = append(calls, c)
			if err := c.parse(strings.TrimRight(head, " ")); err != nil {
				return nil, err
			}
			continue
		}
		if strings.HasPrefix(l.text, "<... ") {
			_, tail, _ := strings.Cut(l.text, " resumed>")
			c := waiting[who]
			if c == nil {
				return nil, fmt.Errorf("a call goes on that never began: %.100q", l.text)
			}
			c.end = i
			if err := c.parse(heads[who] + tail); err != nil {
				return nil, err
			}
			delete(waiting, who)
			continue
		}
		c := &call{begin: i, end: i, trace: l.trace, at: l.at}
		calls = append(calls, c)
		if err := c.parse(l.text); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// parse reads name(arguments) = result. All texts in it are hexadecimal, so that a comma and a
// bracket are never part of one.
func (c *call) parse(text string) error {
	if at := strings.LastIndex(text, " = "); at >= 0 {
		c.result = strings.TrimSpace(text[at+3:])
		text = strings.TrimSuffix(strings.TrimRight(text[:at], " "), ")")
	}
	name, args, ok := strings.Cut(text, "(")
	if !ok {
		return fmt.Errorf("a call that is not understood: %.100q", text)
	}
	c.name, c.args = name, strings.Split(strings.TrimRight(args, ", "), ", ")
	return nil
}

// path is the file that an argument leads to: a descriptor or a name.
func (c *call) path(arg int) string {
	if arg >= len(c.args) {
		return ""
	}
	text := c.args[arg]
	if _, in, ok := strings.Cut(text, "<"); ok {
		text = strings.TrimSuffix(in, ">")
	}
	return string(plain(strings.Trim(text, `"`)))
}

func (c *call) number(arg int) (int64, error) {
	if arg >= len(c.args) {
		return 0, fmt.Errorf("%s has %d arguments", c.name, len(c.args))
	}
	return strconv.ParseInt(c.args[arg], 10, 64)
}

// stores reports whether an mmap lets a file be changed without a call.
func (c *call) stores() bool {
	return len(c.args) == 6 && strings.Contains(c.args[2], "PROT_WRITE") && strings.Contains(c.args[3], "MAP_SHARED")
}

// room returns where a fallocate that makes a file larger ends.
func (c *call) room() (int64, error) {
	at, err := c.number(2)
	n, also := c.number(3)
	if err = cmp.Or(err, also); err == nil && c.args[1] != "0" {
		err = fmt.Errorf("fallocate in mode %s is not understood", c.args[1])
	}
	return at + n, err
}

// data returns the bytes of a write.
func (c *call) data() ([]byte, error) {
	if len(c.args) < 2 || strings.HasSuffix(c.args[1], "...") {
		return nil, fmt.Errorf("%s: the trace does not have all that was written", c.name)
	}
	data := plain(strings.Trim(c.args[1], `"`))
	if c.end == unreturned {
		return data, nil
	}
	n, err := strconv.Atoi(c.result)
	if err != nil || n > len(data) {
		return nil, fmt.Errorf("%s of %d bytes has returned %q", c.name, len(data), c.result)
	}
	return data[:n], nil
}

// plain turns \x41\x42 into AB; what is not of that shape it leaves.
func plain(text string) []byte {
	if !strings.HasPrefix(text, `\x`) {
		return []byte(text)
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	if err != nil {
		return []byte(text)
	}
	return raw
}

// hexed is a text as it stands in a trace.
func hexed(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		fmt.Fprintf(&out, `\x%02x`, b)
	}
	return out.String()
}
