package dialogue

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Dialogue is one conversation of a file.
type Dialogue struct {
	File  string
	Title string
	Rows  []string // of the protocol
	steps []step
}

// step is a request and its answer, or a wait.
type step struct {
	line    int
	wait    time.Duration
	times   int           // how often the request is sent, each time with this answer; 0: once
	every   time.Duration // what passes after each
	request message
	answer  message
	holds   []string // texts that the answer's body has somewhere
}

// message is a first line, headers and a body, as written.
type message struct {
	first   string
	headers []string
	body    []string
}

// Read parses a file of dialogues.
func Read(file string) ([]Dialogue, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := parser{file: file}
	for line := range strings.Lines(string(text)) {
		p.line++
		if err := p.read(strings.TrimRight(line, "\r\n")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
	}
	return p.all, nil
}

type parser struct {
	file  string
	line  int
	all   []Dialogue
	side  byte // of the message being read: > or <, 0 between messages
	body  bool
	times int // of the request that follows
	every time.Duration
}

func (p *parser) read(line string) error {
	if title, ok := strings.CutPrefix(line, "== "); ok {
		p.all = append(p.all, Dialogue{File: p.file, Title: title})
		p.side = 0
		return nil
	}
	if line == "" || line[0] == '#' {
		p.side = 0
		return nil
	}
	if len(p.all) == 0 {
		return fmt.Errorf("%q stands before the first heading", line)
	}
	d := &p.all[len(p.all)-1]
	switch rest := ""; {
	case cut(line, "rows: ", &rest):
		d.Rows = append(d.Rows, strings.Fields(rest)...)
	case cut(line, "wait ", &rest):
		wait, err := time.ParseDuration(rest)
		d.steps = append(d.steps, step{line: p.line, wait: wait})
		return err
	case cut(line, "times ", &rest):
		return p.repeat(rest)
	case cut(line, "<~ ", &rest) && len(d.steps) > 0:
		s := &d.steps[len(d.steps)-1]
		s.holds = append(s.holds, rest)
	case line[0] == '>' || line[0] == '<':
		return p.message(d, line[0], strings.TrimPrefix(line[1:], " "))
	default:
		return fmt.Errorf("%q is none of: == title, rows:, wait, times, >, <, <~, #", line)
	}
	return nil
}

// repeat reads "60" and "60 every 1s".
func (p *parser) repeat(text string) (err error) {
	count, every, timed := strings.Cut(text, " every ")
	if p.times, err = strconv.Atoi(count); err != nil || p.times < 2 {
		return fmt.Errorf("times is a number from 2")
	}
	if timed {
		p.every, err = time.ParseDuration(every)
	}
	return err
}

func (p *parser) message(d *Dialogue, side byte, line string) error {
	if side != p.side {
		p.side, p.body = side, false
		if side == '>' {
			d.steps = append(d.steps, step{line: p.line, times: p.times, every: p.every})
			p.times, p.every = 0, 0
		}
		if len(d.steps) == 0 || d.steps[len(d.steps)-1].wait != 0 {
			return fmt.Errorf("an answer without a request")
		}
		p.part(d).first = line
		return nil
	}
	m := p.part(d)
	switch {
	case p.body:
		m.body = append(m.body, line)
	case line == "":
		p.body = true
	default:
		m.headers = append(m.headers, line)
	}
	return nil
}

func (p *parser) part(d *Dialogue) *message {
	s := &d.steps[len(d.steps)-1]
	if p.side == '>' {
		return &s.request
	}
	return &s.answer
}

func cut(line, prefix string, rest *string) (ok bool) {
	*rest, ok = strings.CutPrefix(line, prefix)
	return ok
}
