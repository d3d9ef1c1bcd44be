package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/registry/pins"
)

const (
	acceptFlag = "accept"
	digestFlag = "digest"
	pinsFlag   = "pins"
	pinsHelp   = "of an MCP endpoint: off puts what it changes later on the bus before it is accepted (on: see " +
		"capability pins)"
)

var pinCommands = []command{{
	name: "capability pins", words: []string{"MEMBER", "[NAME...]"},
	summary: "Show what an upstream has changed in its tools, and accept it", do: capabilityPins, acts: true,
	details: "What an MCP endpoint changes in its tools, or lists anew, is held until it is accepted: agents go on " +
		"with the\n" +
		"texts and schemas that were accepted. With the digest that is shown, nothing is accepted but what was " +
		"shown.\n" +
		"Without it, nothing is accepted if something else has been held before since tools were accepted last.",
	examples: []string{"keystile capability pins search", "keystile capability pins search --accept",
		"keystile capability pins search --accept find lookUp"},
	flags: []cli.Flag{
		{Name: acceptFlag, Help: "accept the tools that are named, or all that are shown, and forget those that are " +
			"gone then"},
		{Name: digestFlag, Value: "DIGEST", Help: "of what was shown: accept nothing else"},
	},
}}

func capabilityPins(ctx context.Context, target Target, args cli.Args) (output, error) {
	who, err := operator(ctx, target)
	if err != nil {
		return nil, err
	}
	member, names := args.Words[0], args.Words[1:]
	if !args.On(acceptFlag) {
		if len(names) > 0 || args.Get(digestFlag) != "" {
			return nil, cli.Usage("to accept tools say so: --%s", acceptFlag)
		}
		held, err := target.Registry.ShowPins(ctx, who, member)
		if err != nil {
			return nil, refused(err)
		}
		return pinned{held, false}, nil
	}
	if len(names) == 0 {
		names = nil // all
	}
	held, err := target.Registry.AcceptPins(target.By.In(ctx), who, member, names, args.Get(digestFlag))
	if err != nil {
		return nil, refused(err)
	}
	return pinned{held, true}, nil
}

// typedPins reads --pins, and reports whether pins are off.
func typedPins(args cli.Args) (off bool, err error) {
	switch text := args.Get(pinsFlag); text {
	case "", "on":
		return false, nil
	case "off":
		return true, nil
	default:
		return false, cli.Usage("--%s %q is neither on nor off", pinsFlag, text)
	}
}

// pinned prints the held tools of a capability.
type pinned struct {
	of       pins.View
	accepted bool
}

func (p pinned) text(asJSON bool) (string, error) {
	if asJSON {
		all := answer{{"member", p.of.Capability.Member}, {"held", p.of.Tools}, {"gone", p.of.Gone},
			{"more", p.of.More}, {"digest", p.of.Digest}}
		if p.accepted {
			all = append(all, field{"accepted", append([]string{}, p.of.Accepted...)})
		}
		return line(all)
	}
	var out strings.Builder
	if p.accepted {
		fmt.Fprintln(&out, "accepted: "+orNothing(p.of.Accepted))
	}
	if len(p.of.Tools) == 0 && !p.accepted {
		fmt.Fprintln(&out, "nothing is held")
	}
	for _, t := range p.of.Tools {
		fmt.Fprintf(&out, "%s: %s\n", t.Name, map[bool]string{true: "new", false: "changed"}[t.New])
		for _, c := range t.Changes {
			printChange(&out, c)
		}
	}
	if len(p.of.Gone) > 0 {
		fmt.Fprintln(&out, "gone: "+field{value: p.of.Gone}.shown())
	}
	if p.of.More > 0 {
		fmt.Fprintf(&out, "and %d more, which are shown when these are accepted\n", p.of.More)
	}
	if len(p.of.Tools) > 0 {
		fmt.Fprintf(&out, "accept them with: keystile capability pins %s --accept --digest %s\n",
			p.of.Capability.Member, p.of.Digest)
	}
	return out.String(), nil
}

func printChange(out *strings.Builder, c pins.Change) {
	fmt.Fprintln(out, "  "+field{value: c.At}.shown())
	for _, side := range [][2]string{{"-", c.Before}, {"+", c.After}} {
		if side[1] == "" {
			continue
		}
		for text := range strings.Lines(side[1]) {
			fmt.Fprintf(out, "    %s %s\n", side[0], field{value: strings.TrimRight(text, "\n")}.shown())
		}
	}
	if c.Note != "" {
		fmt.Fprintln(out, "    ("+c.Note+")")
	}
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing, for nothing is held"
	}
	return strings.Join(names, ", ")
}
