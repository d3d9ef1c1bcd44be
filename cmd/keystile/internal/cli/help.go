package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// width is the number of columns that help is wrapped to.
const width = 80

// usageTemplate is cobra's, with flags wrapped.
func usageTemplate(c *cobra.Command) string {
	return strings.NewReplacer(".FlagUsages", ".FlagUsagesWrapped 80", " for more information about a command.", " for more.").Replace(c.UsageTemplate())
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
	return wrap(c.Summary+".", width) + strings.TrimRight("\n\n"+wrap(c.Details, width), "\n")
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

// wrap fills the paragraphs of a text between the margins. A line that begins with a space begins
// a paragraph, and what does not fit in it stands below it, further in.
func wrap(text string, columns int) string {
	var out []string
	now, margin := "", ""
	end := func() {
		if now != "" {
			out = append(out, now)
		}
		now, margin = "", ""
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if inner := line[:len(line)-len(strings.TrimLeft(line, " "))]; inner != "" || len(words) == 0 || margin != "" {
			end()
			now, margin = strings.TrimSuffix(inner, " "), inner+inner
		}
		if len(words) == 0 {
			out = append(out, "")
		}
		for _, word := range words {
			switch {
			case now == "" && margin == "":
				now = word
			case len([]rune(now))+1+len([]rune(word)) > columns:
				out = append(out, now)
				now = margin + word
			default:
				now += " " + word
			}
		}
	}
	end()
	return strings.Join(out, "\n")
}
