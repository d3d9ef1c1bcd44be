package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

// State says what a Finding found.
type State string

// The states of a Finding.
const (
	Safe    State = "safe"
	Noted   State = "note"    // it may be meant so, and costs something
	Unsafe  State = "unsafe"  // answered writes may be lost, people misled, or nodes stop serving
	Unknown State = "unknown" // it could not be looked at
)

// Finding says what a check has found out about one thing.
type Finding struct {
	Name  string // the same in every version, for scripts
	State State
	Says  string // what is so, and what it means
	Do    string // what to do about it; empty for what is safe
}

// exitUnknown is the exit code where nothing unsafe was found and not everything could be looked at.
const exitUnknown = 3

func checkLine(opener Opener) cli.Command {
	return cli.Command{
		Name: "storage check", Summary: "Say what is not safe about where a service keeps its records",
		Details: "It looks at what several nodes rely on, with the configuration that the nodes have, and at each thing\n" +
			"says what is so, what it means and what to do: the disk of the data folder with its journal of usage,\n" +
			"the master key, base_url and trusted_proxies; in PostgreSQL the durability of commits, standbys,\n" +
			"clocks, connections, timeouts, a pooler and the way around it for notifications; and Redis. It counts\n" +
			"users, applications and open orders one by one, which takes a while where there are many, and compares\n" +
			"that with the counters. It reads every row, and names those that are not what was written; a file that a\n" +
			"server has open is left to keystile backup, which reads its copy. It changes nothing, and may run beside the\n" +
			"service, as its user and on each of the machines.\n\n" +
			"unsafe is what loses answered writes, misleads people or stops nodes; a note may be meant so. The\n" +
			"exit code is 0 if nothing is unsafe, 1 if something is, 3 if nothing is and not all could be looked\n" +
			"at, and 2 if the configuration is wrong.",
		Examples: []string{"keystile storage check --config /etc/keystile/keystile.yaml --nodes 3",
			"keystile storage check --json | jq '.findings[] | select(.state == \"unsafe\")'"},
		Flags: append([]cli.Flag{{Name: "nodes", Value: "N", Help: "how many nodes there are, or shall be (without it " +
			"those that run, at least 2 where the storage can be shared)"}}, checkedFlags()...),
		Run: func(ctx context.Context, call cli.Call) error { return check(ctx, call, opener) },
	}
}

// checkedFlags are those of every command here, and the keys that a check judges.
func checkedFlags() []cli.Flag {
	return append(config.Flags("base_url", "trusted_proxies", "redis_url"), common()...)
}

func check(ctx context.Context, call cli.Call, opener Opener) error {
	c, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	nodes := 0
	if text := call.Get("nodes"); text != "" {
		if nodes, err = strconv.Atoi(text); err != nil || nodes < 1 || nodes > 10_000 {
			return cli.Usage("--nodes %s: give the number of nodes, for example 3", text)
		}
	}
	nodes, all, err := opener.Check(ctx, c, nodes)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(f Finding) bool { return f.Name == countersName }) {
		if f, served := servedCounters(ctx, c); served {
			all = append(all, f)
		}
	}
	f := findings{all, nodes}
	if err := say(call, f); err != nil {
		return err
	}
	switch unsafe, unknown := f.count(Unsafe), f.count(Unknown); {
	case unsafe > 0:
		return fmt.Errorf("not safe: %d of %d; what to do stands beside each", unsafe, len(all))
	case unknown > 0:
		return &cli.CodedError{Err: fmt.Errorf("nothing unsafe was found, and %d of %d could not be looked at", unknown,
			len(all)), Code: exitUnknown}
	}
	return nil
}

// findings is the answer of a check: the worst first.
type findings struct {
	all   []Finding
	nodes int
}

func (f findings) count(s State) (n int) {
	for _, one := range f.all {
		if one.State == s {
			n++
		}
	}
	return n
}

func (f findings) sorted() (list []Finding) {
	for _, s := range []State{Unsafe, Unknown, Noted, Safe} {
		for _, one := range f.all {
			if one.State == s {
				list = append(list, one)
			}
		}
	}
	return list
}

func (f findings) text(asJSON bool) (string, error) {
	if asJSON {
		list := []answer{}
		for _, one := range f.sorted() {
			list = append(list, answer{{"name", one.Name}, {"state", one.State}, {"says", one.Says}, {"do", one.Do}})
		}
		return line(answer{{"safe", f.count(Unsafe)+f.count(Unknown) == 0}, {"nodes", f.nodes}, {"unsafe", f.count(Unsafe)},
			{"unknown", f.count(Unknown)}, {"notes", f.count(Noted)}, {"findings", list}})
	}
	var out strings.Builder
	for _, one := range f.sorted() {
		fmt.Fprintf(&out, "%-8s %s\n", one.State, field{value: one.Name}.shown())
		indented(&out, one.Says)
		if one.Do != "" {
			indented(&out, "→ "+one.Do)
		}
	}
	if f.count(Unsafe)+f.count(Unknown) == 0 {
		fmt.Fprintf(&out, "Nothing unsafe was found, for %d %s.\n", f.nodes,
			map[bool]string{true: "node", false: "nodes"}[f.nodes == 1])
	}
	return out.String(), nil
}

// indented writes a text in lines of at most 80 characters, if its words allow.
func indented(out *strings.Builder, text string) {
	const margin, width = "        ", 80
	used := 0
	for word := range strings.FieldsSeq(field{value: text}.shown()) {
		if used == 0 || used+1+utf8.RuneCountInString(word) > width {
			if used > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(margin)
			used = len(margin)
		}
		out.WriteString(" " + word)
		used += 1 + utf8.RuneCountInString(word)
	}
	out.WriteByte('\n')
}
