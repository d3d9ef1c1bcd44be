package cli

import (
	"cmp"
	"go/doc/comment"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
)

// The columns that help is wrapped to: without a terminal, and at least and at most of one.
const (
	usualWidth = 80
	leastWidth = 40
	mostWidth  = 160
)

// widthOf returns how many columns the reader of the help has: as COLUMNS says, or the terminal.
func widthOf(call Call) int {
	columns := 0
	for _, v := range call.Env {
		if text, ok := strings.CutPrefix(v, "COLUMNS="); ok {
			columns, _ = strconv.Atoi(text)
		}
	}
	if columns <= 0 {
		columns = cmp.Or(terminal.Width(call.Stdout), usualWidth)
	}
	return min(max(columns, leastWidth), mostWidth)
}

// widthKey is the annotation of the root command that holds the width.
const widthKey = "width"

func init() { cobra.AddTemplateFunc("groupedFlags", groupedFlags) }

// groupedFlags returns the flags of a command below the titles of their groups.
func groupedFlags(c *cobra.Command) string {
	width, err := strconv.Atoi(c.Root().Annotations[widthKey])
	if err != nil {
		width = usualWidth
	}
	var titles []string
	groups := map[string]*pflag.FlagSet{}
	c.LocalFlags().SortFlags = false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := "Flags"
		if v, ok := valueOf(f); ok {
			title = cmp.Or(v.flag.Group, title)
		}
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			groups[title].SortFlags = false
			titles = append(titles, title)
		}
		groups[title].AddFlag(f)
	})
	var out strings.Builder
	for i, title := range titles {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(title + ":\n" + groups[title].FlagUsagesWrapped(width))
	}
	return out.String()
}

// usageTemplate is cobra's, with flags wrapped and in groups.
func usageTemplate(c *cobra.Command) string {
	return strings.NewReplacer("Flags:\n{{.LocalFlags.FlagUsages |", "{{groupedFlags . |", ".FlagUsages",
		".FlagUsagesWrapped 80", " for more information about a command.", " for more.").Replace(c.UsageTemplate())
}

// helpCommand shows the help of another command.
func helpCommand(c *cobra.Command, words []string) error {
	found, rest, err := c.Root().Find(words)
	if err != nil || len(rest) > 0 && found.HasSubCommands() {
		return unknown(found, rest)
	}
	found.InitDefaultHelpFlag()
	return found.Help()
}

// long returns what help says of a command above how it is called.
func (c Command) long(width int) string {
	return wrap(c.Summary+".\n\n"+c.Details, width)
}

// needed returns the flags that must be given, for the line that shows how to call the command.
func (c Command) needed() (text string) {
	for _, f := range c.Flags {
		if f.Need {
			text += " --" + f.Name + " " + f.Value
		}
	}
	return text
}

func (f Flag) about() string {
	text := strings.ReplaceAll(f.Help, "`", "'") // pflag takes the first quoted word for the value's name
	switch {
	case f.Need && f.Many:
		text += " (required; may be repeated)"
	case f.Need:
		text += " (required)"
	case f.Many:
		text += " (may be repeated)"
	}
	return text
}

func indent(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n  ")
}

// wrap fills the paragraphs of a text. A line that begins with a space is kept as it is.
func wrap(text string, width int) string {
	p := comment.Printer{TextWidth: width}
	return strings.TrimSpace(string(p.Text(new(comment.Parser).Parse(text))))
}
