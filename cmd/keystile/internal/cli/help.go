package cli

import (
	"go/doc/comment"
	"strings"

	"github.com/spf13/cobra"
)

// width is the number of columns that help is wrapped to.
const width = 80

// usageTemplate is cobra's, with flags wrapped.
func usageTemplate(c *cobra.Command) string {
	return strings.NewReplacer(".FlagUsages", ".FlagUsagesWrapped 80", " for more information about a command.",
		" for more.").Replace(c.UsageTemplate())
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
func (c Command) long() string {
	return wrap(c.Summary + ".\n\n" + c.Details)
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
func wrap(text string) string {
	p := comment.Printer{TextWidth: width}
	return strings.TrimSpace(string(p.Text(new(comment.Parser).Parse(text))))
}
