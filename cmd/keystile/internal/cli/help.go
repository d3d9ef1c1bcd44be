package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

func (t Table) help(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s COMMAND [flags]; without a command it is %q.\n\n", t.Summary, t.Program, t.Default)
	t.list(w, t.Commands)
	fmt.Fprintf(w, "\nMore about one of them: %s help COMMAND\n", t.Program)
}

func (t Table) list(w io.Writer, commands []Command) {
	rows := make([][2]string, len(commands))
	for i, c := range commands {
		rows[i] = [2]string{t.Program + " " + c.Name, c.Summary}
	}
	columns(w, rows)
}

func (t Table) helpFor(w io.Writer, c Command) {
	fmt.Fprintf(w, "%s\n\nUsage: %s %s", c.Summary, t.Program, c.Name)
	for _, f := range c.Flags {
		if f.Need {
			fmt.Fprintf(w, " --%s %s", f.Name, f.Value)
		}
	}
	for _, word := range c.Words {
		fmt.Fprint(w, " "+word)
	}
	fmt.Fprintln(w, " [flags]")
	if c.Details != "" {
		fmt.Fprintf(w, "\n%s\n", c.Details)
	}
	if len(c.Flags) > 0 {
		fmt.Fprintln(w, "\nFlags:")
		columns(w, flagRows(c.Flags))
	}
	if len(c.Examples) > 0 {
		fmt.Fprintf(w, "\nExamples:\n  %s\n", strings.Join(c.Examples, "\n  "))
	}
}

func flagRows(flags []Flag) [][2]string {
	rows := make([][2]string, len(flags))
	for i, f := range flags {
		help := f.Help
		switch {
		case f.Need && f.Many:
			help += " (required; may be repeated)"
		case f.Need:
			help += " (required)"
		case f.Many:
			help += " (may be repeated)"
		}
		rows[i] = [2]string{strings.TrimSpace("--" + f.Name + " " + f.Value), help}
	}
	return rows
}

func columns(w io.Writer, rows [][2]string) {
	tab := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(tab, "  %s\t%s\n", row[0], row[1])
	}
	tab.Flush()
}
