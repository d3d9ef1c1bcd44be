package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/soak/internal/level"
	"github.com/keystile/keystile/internal/test/pgserver"
)

// lived is the life of a process that was measured every five seconds; leaking grows evenly by so much in all.
func lived(node int, began, seconds time.Duration, leaking string, by float64) *life {
	l := &life{node: node, pid: 100 + int(began/time.Second), began: began * time.Second,
		series: map[string][]level.Point{}}
	start := map[string]float64{rss: 90, anonymous: 50, heap: 30, files: 30, goroutines: 40, connections: 5, folder: 1}
	for i := 0; i < int(seconds); i += 5 {
		at := (began + time.Duration(i)) * time.Second
		for _, what := range measures {
			value := start[what] + float64(i%15/5)
			if what == leaking {
				value += by * float64(i) / float64(seconds)
			}
			l.series[what] = append(l.series[what], level.Point{At: at, Value: value})
		}
	}
	return l
}

// soaked is a soak of ten minutes of which the lives are given.
func soaked(lives ...*life) *soak {
	rest := map[string]float64{files: 25, goroutines: 35, connections: 2}
	s := &soak{options: options{slower: 3}, site: &site{}, meter: newMeter(), sampler: &sampler{lives: lives},
		took: 10 * time.Minute, idle: rest, end: rest}
	return s
}

// judged wants one violation that says something, or none at all.
func judged(t *testing.T, what string, s *soak, wants ...string) {
	t.Helper()
	found := s.report().Violations
	if len(found) != min(1, len(wants)) {
		t.Errorf("%s: there are %d violations: %q", what, len(found), found)
		return
	}
	for _, want := range wants {
		if !strings.Contains(found[0], want) {
			t.Errorf("%s: it does not say %q: %s", what, want, found[0])
		}
	}
}

func TestProcessThatGrowsIsAViolation(t *testing.T) {
	judged(t, "level", soaked(lived(0, 0, 600, "", 0), lived(1, 0, 200, "", 0), lived(1, 205, 395, "", 0)))
	for what, by := range map[string]float64{anonymous: 30, heap: 10, files: 30, goroutines: 50} {
		judged(t, what, soaked(lived(0, 0, 600, what, by)), "node 0", what, "second quarter")
	}
	judged(t, "RSS with what is mapped from files", soaked(lived(0, 0, 600, rss, 300)))
	judged(t, "the data folder", soaked(lived(0, 0, 600, folder, 300)))
	s := soaked(lived(0, 0, 600, folder, 30))
	s.site.database = new(pgserver.Server)
	judged(t, "the data folder of a node with a database", s, folder)
}

// A restart begins a new life: what the one before has grown to does not hide that this one grows, and the step
// between them is no growth.
func TestLifeOfANodeIsJudgedByItself(t *testing.T) {
	high := lived(1, 300, 300, "", 0)
	for i := range high.series[heap] {
		high.series[heap][i].Value += 100
	}
	judged(t, "a step from one life to the next", soaked(lived(0, 0, 600, "", 0), lived(1, 0, 295, "", 0), high))
	judged(t, "a leak in the second life", soaked(lived(0, 0, 600, "", 0), lived(1, 0, 295, "", 0),
		lived(1, 300, 300, files, 40)), "node 1, from 300 s", files)
}

func TestRestartBeginsALifeAndNothingElseDoes(t *testing.T) {
	s := newSampler(&site{})
	first := s.life(1, 100, 0)
	if s.life(1, 100, time.Minute) != first || s.life(1, 101, time.Minute) == first ||
		s.life(2, 100, time.Minute) == first || len(s.lives) != 3 {
		t.Errorf("there are %d lives, want 3", len(s.lives))
	}
}

func TestNodeThatWasHardlyMeasuredIsNotCalledGood(t *testing.T) {
	judged(t, "few measurements", soaked(lived(0, 0, 25, "", 0), lived(1, 0, 600, "", 0)), "node 0 was measured")
}

func TestJudgeWantsANodeToComeBackWithoutLoad(t *testing.T) {
	for _, what := range []string{files, goroutines, connections} {
		s := soaked(lived(0, 0, 600, "", 0))
		s.end = maps.Clone(s.idle)
		s.end[what] += mostLeft
		judged(t, what, s)
		s.end[what]++
		s.held = map[string]string{what: "most are these"}
		judged(t, what, s, what, "without load", "most are these")
	}
}

// at is an answer that was sent so long after the beginning, and took so long.
func (s *soak) at(sent, took time.Duration, a answer) answer {
	a.sent = s.meter.began.Add(sent)
	a.done = a.sent.Add(took)
	if a.header == nil {
		a.header = http.Header{}
	}
	return a
}

func TestFaultExplainsWhatItMayDoWhileItLasts(t *testing.T) {
	const from, until = 100 * time.Second, 110 * time.Second
	refused := answer{status: 503, header: http.Header{"Retry-After": {"1"}}}
	for _, c := range []struct {
		what string
		sent time.Duration
		is   answer
		says string // "": it is explained
	}{
		{"amid it", from + time.Second, refused, ""},
		{"sent before it", from - time.Second, refused, ""},
		{"just after it", until + settles/2, refused, ""},
		{"before it", from - time.Minute, refused, "refused, 503"},
		{"long after it", until + 2*settles, refused, "refused, 503"},
		{"of another class", from + time.Second, answer{status: 500}, "wrong answer"},
		{"without Retry-After", from + time.Second, answer{status: 503}, "wrong answer"},
		{"made, and not on the trail yet", from + time.Second, answer{status: 503,
			body: []byte(`{"msg":"the change is made, but the audit trail cannot be written"}`)}, ""},
		{"lost", from + time.Second, answer{err: http.ErrServerClosed}, "unanswered"},
	} {
		s := soaked(lived(0, 0, 600, "", 0))
		s.meter.windows = []window{{what: "a fault", from: s.meter.began.Add(from), until: s.meter.began.Add(until),
			explains: func(p problem) bool {
				return p.kind == "userinfo" && p.class == away
			}}}
		s.meter.note("userinfo", s.at(c.sent, 2*time.Second, c.is), false)
		if c.says == "" {
			judged(t, c.what, s)
			if r := s.report(); r.Explained["a fault, refused, 503"] != 1 || r.Kinds[0].Explained != 1 {
				t.Errorf("%s: explained are %v", c.what, r.Explained)
			}
			s.meter.problems = nil
			s.meter.note("console", s.at(c.sent, 2*time.Second, c.is), false)
			judged(t, c.what+", another kind", s, "console: refused, 503")
		} else {
			judged(t, c.what, s, "userinfo", c.says, "no fault explains it")
		}
	}
}

// Ten thousand refusals of one sort are counted, and shown as some.
func TestJudgeShowsManyProblemsOfOneSortAsAFew(t *testing.T) {
	s := soaked(lived(0, 0, 600, "", 0))
	for range 10000 {
		s.meter.note("userinfo", s.at(time.Second, time.Second, answer{status: 401}), false)
	}
	s.meter.note("userinfo", s.at(time.Second, time.Second, answer{status: 500}), false)
	if r := s.report(); len(r.Violations) != sameShown+1 || r.Kinds[0].Unexplained != 10001 {
		t.Errorf("%d violations, %d problems", len(r.Violations), r.Kinds[0].Unexplained)
	}
}

func TestJudgeAcceptsBeingToldToComeBack(t *testing.T) {
	s := soaked(lived(0, 0, 600, "", 0))
	s.meter.note("sign-in", s.at(0, 0, answer{status: 503, header: http.Header{"Retry-After": {"1"}},
		body: []byte("Too many people are signing in")}), false)
	judged(t, "a crowd", s)
	if s.report().Crowds != 1 {
		t.Error("it is not counted")
	}
}

func TestRequestsThatBecomeSlowerAreAViolation(t *testing.T) {
	timed := func(last time.Duration, windows ...window) *soak {
		s := soaked(lived(0, 0, 600, "", 0))
		s.meter.windows = windows
		for i := range 600 {
			took := 30 * time.Millisecond
			if i >= 450 {
				took = last
			}
			s.meter.note("userinfo", s.at(time.Duration(i)*time.Second, took, answer{status: 200}), true)
		}
		return s
	}
	judged(t, "the same", timed(30*time.Millisecond))
	judged(t, "a little slower", timed(90*time.Millisecond))
	judged(t, "much slower", timed(200*time.Millisecond), "userinfo takes 200ms in the last quarter, and took 30ms")
	s := timed(200 * time.Millisecond)
	s.meter.windows = []window{{what: "slow upstream", slow: true, from: s.meter.began.Add(440 * time.Second),
		until: s.meter.began.Add(580 * time.Second)}}
	judged(t, "slow amid a fault alone", s)
}

func TestToleratedMeasureIsMeasured(t *testing.T) {
	for what := range tolerances {
		if !slices.Contains(measures, what) {
			t.Errorf("%s is tolerated, and measured by nobody", what)
		}
	}
}
