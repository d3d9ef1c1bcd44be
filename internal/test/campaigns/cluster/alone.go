package main

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// lookout asks the nodes how often they have counted alone. A Redis that takes longer than a node waits
// for it is away to that node, and on a machine that has other work to do nobody else knows when.
type lookout struct {
	*model
	last  time.Time
	alone []int64 // by node
}

const looks = time.Second

func (l *lookout) step() {
	l.look()
	time.Sleep(looks)
}

// look notes whether a node has counted alone since the last look.
func (l *lookout) look() {
	l.looking.Lock()
	defer l.looking.Unlock()
	now := time.Now()
	for i, n := range l.site.nodes {
		is, err := n.metric(countedAlone)
		if err != nil {
			continue
		}
		if is != l.alone[i] && is > 0 {
			l.note(wrong{what: "a node has counted alone", from: l.last, until: now, counting: true, node: i})
		}
		l.alone[i] = is
	}
	l.last = now
}

// alone reports whether nodes may have counted by themselves at some time between two.
func (m *model) alone(from, until time.Time) bool {
	if !m.site.options.redis {
		return true
	}
	may := func() bool {
		return m.any(from.Add(-settles), until, func(w wrong) bool { return w.counting || w.excuses })
	}
	if may() {
		return true
	}
	m.lookout.look()
	return may()
}

var countedAlone = regexp.MustCompile(`(?m)^keystile_counters_judged_alone_total ([0-9.e+-]+)$`)

// metric reads a number of a node.
func (n *node) metric(which *regexp.Regexp) (int64, error) {
	resp, err := plain.Get("http://" + n.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	found := which.FindSubmatch(text)
	if err != nil || found == nil || resp.StatusCode != http.StatusOK {
		return 0, err
	}
	is, err := strconv.ParseFloat(string(found[1]), 64)
	return int64(is), err
}
